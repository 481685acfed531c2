echo case 2
