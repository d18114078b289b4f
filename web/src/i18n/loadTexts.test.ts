import { beforeEach, expect, it, vi } from "vitest";

beforeEach(() => {
  vi.resetModules();
  vi.stubGlobal("localStorage", { getItem: () => null, setItem: () => undefined });
  vi.stubGlobal("navigator", { languages: ["en"] });
  vi.stubGlobal("document", { documentElement: {} });
});

// All texts of a language are compiled here, which takes a while on a busy machine.
it(
  "fails for a part without a connection, and not for the parts that other pages need",
  { timeout: 60_000 },
  async () => {
    vi.doMock("./en/editor.json", () => {
      throw new Error("offline");
    });
    const { initI18n, loadSchoolTexts, loadTexts, setLanguage } = await import("./index");
    await initI18n();
    await expect(loadTexts("editor")).rejects.toThrow();
    await expect(loadSchoolTexts("/courses")).resolves.toBeUndefined();
    await expect(setLanguage("de")).resolves.toBeUndefined();
    await expect(setLanguage("en")).resolves.toBeUndefined();
  },
);
