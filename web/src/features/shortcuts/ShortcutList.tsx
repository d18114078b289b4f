import { useTranslation } from "react-i18next";

import { STUDENT_SCREENS, type ShortcutScreen, type Shortcut, SHORTCUTS } from "./shortcuts";

/** The shortcuts of some screens with their descriptions. */
export function ShortcutList({ screens, isStaff }: { screens: readonly ShortcutScreen[]; isStaff: boolean }) {
  const { t } = useTranslation();
  return (
    <div className="flex flex-col gap-4">
      {screens.map((place) => {
        const shortcuts: readonly Shortcut[] = SHORTCUTS[place];
        return (
          <section key={place} aria-label={t(`keys.at.${place}`)} className="flex flex-col gap-1">
            <h3 className="font-semibold">{t(`keys.at.${place}`)}</h3>
            <dl className="divide-faint flex flex-col divide-y">
              {shortcuts
                .filter((shortcut) => isStaff || STUDENT_SCREENS.includes(shortcut.name))
                .map((shortcut) => (
                  <div key={shortcut.name} className="flex items-baseline justify-between gap-4 py-1.5">
                    <dt className="order-last flex shrink-0 gap-1">
                      {shortcut.keys.map((key) => (
                        <kbd
                          key={key}
                          className="border-line bg-page rounded border border-b-2 px-1.5 font-mono text-sm"
                        >
                          {key}
                        </kbd>
                      ))}
                    </dt>
                    <dd>{t(`keys.of.${shortcut.name}`)}</dd>
                  </div>
                ))}
            </dl>
          </section>
        );
      })}
    </div>
  );
}
