// The page follows the reader's choice of light or dark, also when it changes.
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();

SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  docExpansion: "none",
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
  filter: true,
  tryItOutEnabled: true,
  // Nothing of this service is sent to a validator elsewhere.
  validatorUrl: null,
  withCredentials: true,
});
