import { tanstackRouter } from "@tanstack/router-plugin/vite";
import react from "@vitejs/plugin-react";
import tailwindcss from "@tailwindcss/vite";
import { defineConfig } from "vitest/config";

// The service behind the development server. Host and Origin stay as the browser sends them, so that cookies, the origin
// check and the tenant by host name behave as in production.
const service = { target: "http://127.0.0.1:3000", ws: true, changeOrigin: false };

export default defineConfig({
  plugins: [tanstackRouter({ target: "react", autoCodeSplitting: true }), react(), tailwindcss()],
  // The schema of documents is shared with the service.
  server: { port: 5173, strictPort: true, proxy: { "/api": service }, fs: { allow: [".", "../crates/rich-text"] } },
  build: {
    target: "es2022",
    reportCompressedSize: false,
    // Browsers without modulepreload load a little later; the polyfill would be an additional file for all others.
    modulePreload: { polyfill: false },
    // Code of every first visit goes into one file, and code of every page of a lesson into another: two dozen small files
    // transfer more bytes than they save. A module that several pages of a lesson share is placed in `components/base` or
    // `features/lesson`; its dependencies follow it.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: "start", test: /src\/main\.tsx|src\/routes\/login\.tsx|src\/auth\/DemoSignIn/, priority: 2 },
            { name: "school", test: /src\/(routes\/_school\.tsx|components\/base\/|features\/lesson\/)/, priority: 1 },
          ],
        },
      },
    },
  },
  test: { include: ["src/**/*.test.ts"] },
});
