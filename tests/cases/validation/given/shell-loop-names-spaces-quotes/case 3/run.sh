echo case 3
