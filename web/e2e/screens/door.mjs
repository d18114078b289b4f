// Pages before sign-in.
export default [
  { name: "Sign in", who: "nobody", path: "/login" },
  { name: "A forgotten password", who: "nobody", path: "/forgot" },
  { name: "A password set with a letter", who: "nobody", path: "/reset-password#token=x" },
  { name: "A code to sign in", who: "nobody", path: "/slip#token=x" },
  { name: "A link that is spent", who: "nobody", path: "/reset-password" },
  {
    name: "An invitation that is spent",
    who: "nobody",
    path: "/accept-invitation#token=x",
    ready: "[role=alert]",
    allow: [/status of 404/],
  },
  { name: "The setup of a required second factor", who: "ada", path: "/second-factor" },
  { name: "The choice of a school", who: "root", path: "/schools", ready: "main ul" },
];
