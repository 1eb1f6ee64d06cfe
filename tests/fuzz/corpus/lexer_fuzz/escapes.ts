pro\u0063ess.\u{65}nv; const { \u0065nv: \u{61} } = process;
