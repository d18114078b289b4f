import { useState } from "react";
import { useTranslation } from "react-i18next";

import { Button } from "../../../components/Button";
import { Dialog } from "../../../components/Dialog";
import { TextField } from "../../../forms/TextField";
import { isLinkTarget } from "../document/schema";
import { linkAt, removeLink, setLink } from "../../rich-text/commands";
import { useController } from "./useController";

/** Completes what a user types: an address without a scheme, or an email address. */
export function completeLink(text: string): string {
  const typed = text.trim();
  if (/^[^\s@/]+@[^\s@/]+\.[^\s@/]+$/.test(typed)) return `mailto:${typed}`;
  return /^[\w-]+(\.[\w-]+)+([/?#].*)?$/.test(typed) ? `https://${typed}` : typed;
}

/** Sets, changes, opens or removes a link. */
export function LinkDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const controller = useController();
  const { selection } = controller.state;
  const [known] = useState(() => linkAt(controller.state));
  const [href, setHref] = useState(known?.href ?? "");
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<string>();
  const needsText = selection.empty && known === undefined;
  const leave = (action?: () => void) => {
    onClose();
    setTimeout(() => (action === undefined ? controller.focus() : action()));
  };
  const save = () => {
    const target = completeLink(href);
    if (!isLinkTarget(target)) setProblem(t("editor.linkInvalid"));
    else leave(() => controller.run(setLink(target, text.trim())));
  };
  return (
    <Dialog title={t("editor.link")} isOpen onOpenChange={(isOpen) => isOpen || leave()}>
      {() => (
        <form
          noValidate
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            save();
          }}
        >
          <TextField
            autoFocus
            label={t("editor.linkAddress")}
            value={href}
            onChange={setHref}
            type="url"
            {...(problem === undefined ? {} : { problem })}
          />
          {needsText ? <TextField label={t("editor.linkText")} value={text} onChange={setText} /> : null}
          <div className="flex flex-wrap gap-2">
            <Button kind="main" type="submit">
              {t("app.save")}
            </Button>
            {known === undefined ? null : (
              <>
                <a
                  href={known.href}
                  target="_blank"
                  rel="noopener noreferrer"
                  className="inline-flex min-h-11 items-center px-2"
                >
                  {t("editor.linkOpen")}
                </a>
                <Button kind="quiet" onPress={() => leave(() => controller.run(removeLink))}>
                  {t("editor.linkRemove")}
                </Button>
              </>
            )}
          </div>
        </form>
      )}
    </Dialog>
  );
}
