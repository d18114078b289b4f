import { tanstackRouter } from "@tanstack/router-plugin/vite";
import react from "@vitejs/plugin-react";
import tailwindcss from "@tailwindcss/vite";
import { defineConfig } from "vitest/config";

// The service behind the development server; Host and Origin stay what the browser sends, so that cookies, the check
// of the origin and the tenant by host name behave as in production.
const service = { target: "http://127.0.0.1:3000", ws: true, changeOrigin: false };

export default defineConfig({
  plugins: [tanstackRouter({ target: "react", autoCodeSplitting: true }), react(), tailwindcss()],
  server: { port: 5173, strictPort: true, proxy: { "/api": service } },
  build: {
    target: "es2022",
    reportCompressedSize: false,
    // Who lacks it fetches a little later; the polyfill is a file more for everybody else.
    modulePreload: { polyfill: false },
    // What every visit begins with comes in one file, and what every page inside a school stands on in another: two dozen
    // small ones cost more than they spare.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: "start", test: /src\/main\.tsx|src\/routes\/login\.tsx|src\/auth\/DemoSignIn/, priority: 2 },
            { name: "school", test: /src\/routes\/_school\.tsx|src\/components\/(ConfirmButton|LockBanner|Badge|EmptyState|OverflowMenu|Skeleton|TimeLeft|toast)\.|src\/forms\/fieldStyles\.|src\/hooks\/(useMenuButton|serverClock|usePreference)\.|src\/i18n\/time\.|src\/api\/realtime\.|src\/features\/board\/classAndCourse\.|icons\/(hand|check|clock|chevron-down|chevron-right|lock|mail|pencil)\.m?js/, priority: 1 },
          ],
        },
      },
    },
  },
  test: { include: ["src/**/*.test.ts"] },
});
