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

it("shows formal texts over the informal ones of a part, in German only", { timeout: 60_000 }, async () => {
  vi.doUnmock("./en/editor.json");
  const { initI18n, language, loadTexts, setFormalAddress, setLanguage, translateIfKnown } = await import("./index");
  await initI18n();
  await setFormalAddress(true);
  const english = translateIfKnown("missing.text");
  await setLanguage("de");
  expect(language()).toBe("de");
  expect(translateIfKnown("missing.text")).toContain("nicht für Sie");
  expect(translateIfKnown("signIn.title")).toBe("Anmelden");
  await loadTexts("finish");
  expect(translateIfKnown("finish.text")).toContain("auch für Sie");
  await setFormalAddress(false);
  expect(translateIfKnown("missing.text")).toContain("nicht für dich");
  await setLanguage("en");
  await setFormalAddress(true);
  expect(translateIfKnown("missing.text")).toBe(english);
});

it("shows the informal texts if the formal ones cannot be loaded", { timeout: 60_000 }, async () => {
  vi.doMock("./de/formal", () => {
    throw new Error("offline");
  });
  const { initI18n, setFormalAddress, setLanguage, translateIfKnown } = await import("./index");
  await initI18n();
  await setLanguage("de");
  await setFormalAddress(true);
  expect(translateIfKnown("missing.text")).toContain("nicht für dich");
});
