// no_tests
export const nothing = 1;
