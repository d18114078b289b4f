import { type ReactNode, useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";

import { Button } from "../components/Button";
import { Dialog } from "../components/Dialog";
import { ErrorMessage } from "../components/ErrorMessage";
import { Form } from "./Form";
import type { SendableForm } from "./useForm";

interface FormBodyProps {
  form: SendableForm;
  /** Undefined while there is nothing to send. */
  submitLabel: string | undefined;
  /** Closes the dialog of the form; without it, the form has no "Cancel". */
  close?: () => void;
  /** Whether the form is incomplete. */
  isIncomplete?: boolean;
  /** Shown instead of an error that is complete at the fields, where fields may be hidden. */
  fieldErrorText?: string;
  kind?: "main" | "plain";
  className?: string;
  children: ReactNode;
}

/** Fields, the error that no field shows, and the buttons. A rejected form moves the focus to its first invalid field. */
export function FormBody({
  form,
  submitLabel,
  close,
  isIncomplete = false,
  kind = "main",
  className,
  children,
  ...rest
}: FormBodyProps) {
  const { t } = useTranslation();
  const body = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (form.problem !== null) body.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [form.problem]);
  const submit =
    submitLabel === undefined ? null : (
      <Button kind={kind} type="submit" className="self-start" isPending={form.isPending} isDisabled={isIncomplete}>
        {submitLabel}
      </Button>
    );
  return (
    <Form
      ref={body}
      onSubmit={(fields) => isIncomplete || form.submit(fields)}
      isPending={form.isPending}
      {...(className === undefined ? {} : { className })}
    >
      {children}
      <FormError form={form} {...rest} />
      {close === undefined ? (
        submit
      ) : (
        <p className="flex flex-wrap justify-end gap-2">
          <Button onPress={close}>{t("ask.cancel")}</Button>
          {submit}
        </p>
      )}
    </Form>
  );
}

/** The error that no field shows. Rendered after the fields, when it is known which errors they show. */
export function FormError({ form, fieldErrorText }: Pick<FormBodyProps, "form" | "fieldErrorText">) {
  const problem = form.unshownProblem();
  if (problem !== null) return <ErrorMessage problem={problem} />;
  if (form.problem === null || fieldErrorText === undefined) return null;
  return (
    <p role="alert" className="text-bad">
      {fieldErrorText}
    </p>
  );
}

interface FormDialogProps extends Omit<FormBodyProps, "close"> {
  title: string;
  isWide?: boolean;
  onClose: () => void;
}

/** A dialog with one form. */
export function FormDialog({ title, isWide = false, onClose, ...body }: FormDialogProps) {
  return (
    <Dialog title={title} isWide={isWide} isOpen onOpenChange={(isOpen) => isOpen || onClose()}>
      {(close) => <FormBody {...body} close={close} />}
    </Dialog>
  );
}
