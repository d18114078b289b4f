import { useState } from "react";
import { useTranslation } from "react-i18next";

import { TextArea } from "./TextArea";
import { Tabs } from "../components/Tabs";
import { Markdown } from "../components/Markdown";

interface Props {
  label: string;
  value: string;
  onChange: (text: string) => void;
  rows?: number;
  problem?: string | undefined;
}

/** A markdown text: one tab to write, one to preview. */
export function MarkdownField({ label, value, onChange, rows = 10, problem }: Props) {
  const { t } = useTranslation();
  const [open, setOpen] = useState<"write" | "see">("write");
  const writeTab = (
    <TextArea
      label={label}
      hint={t("topic.markdown")}
      value={value}
      onChange={onChange}
      rows={rows}
      maxLength={20_000}
      problem={problem}
    />
  );
  const previewTab = (
    <div className="border-faint min-h-24 rounded-lg border p-3">
      <h2 className="sr-only">{label}</h2>
      {value.trim() === "" ? <p className="text-soft">{t("topic.noText")}</p> : <Markdown>{value}</Markdown>}
    </div>
  );
  return (
    <Tabs
      label={label}
      open={open}
      onOpen={setOpen}
      parts={[
        { id: "write", name: t("topic.write"), content: () => writeTab },
        { id: "see", name: t("topic.see"), content: () => previewTab },
      ]}
    />
  );
}
