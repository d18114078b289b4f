import { encodeQR } from "qr";
import { useTranslation } from "react-i18next";

/** Modules of white space around the code, which readers require. */
const BORDER = 4;

/** A text as a QR code, black on white in every color scheme. */
export function QrCode({ text }: { text: string }) {
  const { t } = useTranslation();
  const rows = encodeQR(text, "raw", { border: BORDER, ecc: "medium" });
  const path = rows.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ""))).join("");
  return (
    <svg
      // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- the secret stays out of addresses, where an <img> would have it
      role="img"
      aria-label={t("secondFactor.qrCode")}
      viewBox={`0 0 ${rows.length} ${rows.length}`}
      shapeRendering="crispEdges"
      className="w-52 max-w-full self-center rounded-lg bg-white"
    >
      <path d={path} fill="#000" />
    </svg>
  );
}
