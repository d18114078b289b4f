import { TextSelection } from "prosemirror-state";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { Button } from "../../../components/Button";
import { Dialog } from "../../../components/Dialog";
import { TextArea } from "../../../forms/TextArea";
import { nodeType } from "../document/schema";
import { insertInline } from "../../rich-text/commands";
import { useController } from "./useController";

/** Text of a new footnote, or of the one at a position. */
export function FootnoteDialog({ at, onClose }: { at: number | undefined; onClose: () => void }) {
  const { t } = useTranslation();
  const controller = useController();
  const [text, setText] = useState(() =>
    at === undefined ? "" : ((controller.state.doc.nodeAt(at)?.attrs["text"] as string | undefined) ?? ""),
  );
  const leave = (action?: () => void) => {
    onClose();
    setTimeout(() => (action === undefined ? controller.focus() : action()));
  };
  const save = () => {
    const written = text.trim().slice(0, 10_000);
    if (at === undefined) {
      const { to } = controller.state.selection;
      // A footnote follows the selected words.
      controller.dispatch(controller.state.tr.setSelection(TextSelection.near(controller.state.doc.resolve(to), -1)));
      controller.run(insertInline(nodeType("footnote").create({ text: written })));
    } else if (controller.state.doc.nodeAt(at)?.type === nodeType("footnote")) {
      controller.dispatch(controller.state.tr.setNodeAttribute(at, "text", written));
    }
  };
  return (
    <Dialog title={t("editor.footnote")} isOpen onOpenChange={(isOpen) => isOpen || leave()}>
      {() => (
        <form
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            leave(text.trim() === "" ? undefined : save);
          }}
        >
          <TextArea autoFocus label={t("editor.footnoteText")} value={text} onChange={setText} rows={4} />
          <div className="flex gap-2">
            <Button kind="main" type="submit">
              {t("app.save")}
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  );
}
