import { X } from "lucide-react";
import { useState } from "react";
import { DialogTrigger } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { Button } from "../../components/Button";
import { Checkbox } from "../../forms/Checkbox";
import { Dialog } from "../../components/Dialog";
import type { Student } from "./courseGroups";
import type { Wish } from "./plan";

interface Props {
  students: readonly Student[];
  wishes: readonly Wish[];
  onChange: (wishes: Wish[]) => void;
}

/** Students who should not, or should, share a group. */
export function WishEditor({ students, wishes, onChange }: Props) {
  const { t } = useTranslation();
  const sentence = useWishSentence(students);
  const removeAt = (index: number) => {
    onChange(wishes.filter((_, at) => at !== index));
    // The pressed button is removed; the focus moves to the next one.
    requestAnimationFrame(() =>
      document
        .querySelector<HTMLElement>(`[data-wish="${Math.min(index, wishes.length - 2)}"], [data-wish-new]`)
        ?.focus(),
    );
  };
  return (
    <div className="flex flex-wrap items-center gap-2">
      {wishes.length === 0 ? null : (
        <ul aria-label={t("divide.wishes")} className="flex flex-wrap gap-2">
          {wishes.map((wish, index) => (
            <li
              key={`${wish.kind}${wish.students.join()}`}
              className="border-line flex items-center rounded-full border ps-3 text-sm"
            >
              {sentence(wish)}
              <Button
                kind="quiet"
                className="text-ink px-0"
                data-wish={index}
                aria-label={t("divide.dropWish", { wish: sentence(wish) })}
                onPress={() => removeAt(index)}
              >
                <X aria-hidden="true" className="size-4" />
              </Button>
            </li>
          ))}
        </ul>
      )}
      {(["apart", "together"] as const).map((kind) => (
        <DialogTrigger key={kind}>
          <Button {...(kind === "apart" ? { "data-wish-new": true } : {})}>{t(`divide.wish.${kind}`)}</Button>
          <Dialog title={t(`divide.wishTitle.${kind}`)}>
            {(close) => (
              <WishForm kind={kind} students={students} close={close} onAdd={(wish) => onChange([...wishes, wish])} />
            )}
          </Dialog>
        </DialogTrigger>
      ))}
    </div>
  );
}

/** Returns a function that renders a wish as text: "Ada and Ben apart". */
export function useWishSentence(students: readonly Student[]): (wish: Wish) => string {
  const { t, i18n } = useTranslation();
  const list = new Intl.ListFormat(i18n.language, { type: "conjunction" });
  return (wish) => {
    const names = list.format(wish.students.map((id) => students.find((student) => student.id === id)?.name ?? "–"));
    return t(`divide.wishSaid.${wish.kind}`, { names });
  };
}

function WishForm({
  kind,
  students,
  close,
  onAdd,
}: {
  kind: Wish["kind"];
  students: readonly Student[];
  close: () => void;
  onAdd: (wish: Wish) => void;
}) {
  const { t } = useTranslation();
  const [chosen, setChosen] = useState<readonly string[]>([]);
  return (
    <>
      <p className="text-soft">{t(`divide.wishText.${kind}`)}</p>
      <fieldset aria-label={t("divide.who")} className="grid max-h-[50vh] overflow-y-auto ps-1 sm:grid-cols-2">
        {students.map((student) => (
          <Checkbox
            key={student.id}
            isSelected={chosen.includes(student.id)}
            onChange={(isChosen) =>
              setChosen(isChosen ? [...chosen, student.id] : chosen.filter((id) => id !== student.id))
            }
          >
            {student.name}
          </Checkbox>
        ))}
      </fieldset>
      <p className="flex flex-wrap items-center justify-end gap-2">
        <span className="text-soft me-auto text-sm">{t("divide.chosen", { count: chosen.length })}</span>
        <Button onPress={close}>{t("ask.cancel")}</Button>
        <Button
          kind="main"
          isDisabled={chosen.length < 2}
          onPress={() => {
            onAdd({ kind, students: chosen });
            close();
          }}
        >
          {t(`divide.wish.${kind}`)}
        </Button>
      </p>
    </>
  );
}
