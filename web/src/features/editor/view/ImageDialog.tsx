import { useState } from "react";
import { useTranslation } from "react-i18next";

import { Button } from "../../../components/Button";
import { Dialog } from "../../../components/Dialog";
import { RadioGroup } from "../../../forms/RadioGroup";
import { TextArea } from "../../../forms/TextArea";
import { TEXT_WIDTH } from "./controller";
import { useController } from "./useController";

const SIZES = { small: 0.33, medium: 0.6, large: 1 } as const;
type Size = keyof typeof SIZES;

/** The size that is nearest to a width. */
const sizeOf = (width: number | null | undefined): Size => {
  const share = (width ?? TEXT_WIDTH) / TEXT_WIDTH;
  return share < 0.45 ? "small" : share < 0.8 ? "medium" : "large";
};

/** Description and size of a picture. */
export function ImageDialog({ at, onClose }: { at: number; onClose: () => void }) {
  const { t } = useTranslation();
  const controller = useController();
  const [image] = useState(() => controller.state.doc.nodeAt(at));
  const [alt, setAlt] = useState((image?.attrs["alt"] as string | undefined) ?? "");
  const width = image?.attrs["width"] as number | null | undefined;
  const [size, setSize] = useState<Size>(() => sizeOf(width));
  const [first] = useState(size);
  /** The document may have changed while the dialog was open. */
  const position = () => {
    let found: number | undefined;
    controller.state.doc.descendants((node, place) => {
      if (
        node.type.name === "image" &&
        node.attrs["src"] === image?.attrs["src"] &&
        (found === undefined || Math.abs(place - at) < Math.abs(found - at))
      )
        found = place;
    });
    return found;
  };
  const leave = () => {
    onClose();
    setTimeout(() => controller.focus());
  };
  const save = () => {
    const place = position();
    const { tr } = controller.state;
    if (place !== undefined && image !== null) {
      tr.setNodeAttribute(place, "alt", alt.trim().slice(0, 2_000));
      if (size !== first) {
        const height = image.attrs["height"] as number | null;
        const target = Math.round(TEXT_WIDTH * SIZES[size]);
        tr.setNodeAttribute(place, "width", target);
        if (height !== null && width)
          tr.setNodeAttribute(place, "height", Math.max(1, Math.round((height * target) / width)));
      }
      controller.dispatch(tr);
    }
    leave();
  };
  const remove = () => {
    const place = position();
    if (place !== undefined) controller.dispatch(controller.state.tr.delete(place, place + 1));
    leave();
  };
  return (
    <Dialog title={t("editor.imageTitle")} isOpen onOpenChange={(isOpen) => isOpen || leave()}>
      {() => (
        <form
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            save();
          }}
        >
          <TextArea
            autoFocus
            label={t("editor.imageAlt")}
            hint={t("editor.imageAltHint")}
            value={alt}
            onChange={setAlt}
            rows={3}
          />
          <RadioGroup<Size>
            label={t("editor.imageSize")}
            value={size}
            onChange={setSize}
            options={(Object.keys(SIZES) as Size[]).map((id) => ({ id, name: t(`editor.imageSizes.${id}`) }))}
          />
          <div className="flex flex-wrap gap-2">
            <Button kind="main" type="submit">
              {t("app.save")}
            </Button>
            <Button kind="quiet" onPress={remove}>
              {t("editor.imageDelete")}
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  );
}
