// The screens in front of the school.
export default [{ name: "Sign in", who: "nobody", path: "/login" }];
