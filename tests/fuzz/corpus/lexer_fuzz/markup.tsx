const v = <A<T> b="&#46;env" {...c}>it's {`text`} <></> {/* x */}</A>; const g = <T,>(x: T) => x < y > z;
