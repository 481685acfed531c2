/* Times, sizes and counts as people read them: the same words as portal/words.py. */

export function clock(seconds) {
  const s = Math.max(0, Math.floor(seconds)), two = (n) => String(n).padStart(2, "0");
  const days = Math.floor(s / 86400), hours = Math.floor(s % 86400 / 3600), minutes = Math.floor(s % 3600 / 60);
  if (days) return `${days} d ${two(hours)}:${two(minutes)}:${two(s % 60)}`;
  return hours ? `${hours}:${two(minutes)}:${two(s % 60)}` : `${minutes}:${two(s % 60)}`;
}

/** How long ago (seconds before now; less than nothing is ahead); null past a week, where the date stands. */
export function relative(away) {
  const far = Math.abs(away);
  if (far < 5) return "just now";
  if (far >= 7 * 86400) return null;
  return away > 0 ? `${coarse(far)} ago` : `in ${coarse(far)}`;
}

export function size(bytes) {
  if (bytes < 1024) return `${bytes} byte${bytes === 1 ? "" : "s"}`;
  let amount = bytes, unit;
  for (unit of ["KiB", "MiB", "GiB", "TiB", "PiB"]) {
    amount /= 1024;
    if (amount < 1023.5) break;
  }
  return `${amount < 99.95 ? amount.toFixed(1) : count(Math.round(amount))} ${unit}`;
}

export function count(n) {
  return n.toLocaleString("en-GB");
}

function coarse(seconds) {
  for (const [limit, unit, name] of [[60, 1, "s"], [3600, 60, "min"], [86400, 3600, "h"]]) {
    if (seconds < limit) return `${Math.floor(seconds / unit)} ${name}`;
  }
  const days = Math.floor(seconds / 86400);
  return `${days} day${days === 1 ? "" : "s"}`;
}
