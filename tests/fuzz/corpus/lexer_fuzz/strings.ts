const a = "\x2e\u0065\u{6e}\166\
", b = [`${a}`, 'x'].join("").concat("y").split("").reverse();
f(atob("LmVudg=="), Buffer.from("2e656e76", "hex").toString(), String.fromCharCode(46, 0x65));
