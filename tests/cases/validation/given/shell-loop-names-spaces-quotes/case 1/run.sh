echo case 1
