a = b / c / d; e = /[/]\/`"/g.exec(f) / 2; if (x) /re/.test(y); (z)
/1/g; i++ / 2; {} /x/; }/ 1;
