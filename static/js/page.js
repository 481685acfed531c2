/* Entry of every page. Each module looks for its own elements; pages with a viewer, charts or uploads load theirs besides. */
import "./place.js";
import "./times.js";
import "./live.js";
import "./dialog.js";
import "./form.js";
import "./keep.js";
import "./keys.js";
