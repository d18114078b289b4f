// Pages before sign-in.
export default [
  { name: "Sign in", who: "nobody", path: "/login" },
  {
    name: "Sign in through a provider that rejected",
    who: "nobody",
    // The provider is added once; several screens share the demo school.
    path: async (harness) => {
      const admin = await harness.api("admin");
      const provider = { preset: "KEYCLOAK", issuer: "https://id.school.example/realms/demo", clientId: "groupwork" };
      if ((await admin.get("/admin/sign-on")).length === 0)
        await admin.post("/admin/sign-on", { ...provider, name: "School account", clientSecret: "secret" });
      return "/login?org=demo&error=account_not_linked";
    },
    ready: "[role=alert]",
  },
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
