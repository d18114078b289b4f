import { tanstackRouter } from "@tanstack/router-plugin/vite";
import react from "@vitejs/plugin-react";
import tailwindcss from "@tailwindcss/vite";
import { defineConfig } from "vitest/config";

// The service behind the development server. Host and Origin stay as the browser sends them, so that cookies, the origin
// check and the tenant by host name behave as in production.
const service = { target: "http://127.0.0.1:3000", ws: true, changeOrigin: false };

export default defineConfig({
  plugins: [tanstackRouter({ target: "react", autoCodeSplitting: true }), react(), tailwindcss()],
  server: { port: 5173, strictPort: true, proxy: { "/api": service } },
  build: {
    target: "es2022",
    reportCompressedSize: false,
    // Browsers without modulepreload load a little later; the polyfill would be an additional file for all others.
    modulePreload: { polyfill: false },
    // Code of every first visit goes into one file, and code of every page inside a school into another: two dozen small
    // files transfer more bytes than they save.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: "start", test: /src\/main\.tsx|src\/routes\/login\.tsx|src\/auth\/DemoSignIn/, priority: 2 },
            {
              name: "school",
              test: /src\/routes\/_school\.tsx|src\/components\/(ConfirmButton|LockBanner|Badge|EmptyState|OverflowMenu|Skeleton|TimeLeft|toast)\.|src\/forms\/fieldStyles\.|src\/hooks\/(useMenuButton|serverClock|usePreference)\.|src\/i18n\/time\.|src\/api\/realtime\.|src\/features\/board\/classAndCourse\.|icons\/(hand|check|clock|chevron-down|chevron-right|lock|mail|pencil)\.m?js/,
              priority: 1,
            },
          ],
        },
      },
    },
  },
  test: { include: ["src/**/*.test.ts"] },
});
