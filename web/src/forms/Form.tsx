import type { ReactNode, Ref } from "react";
import { Form as AriaForm } from "react-aria-components";

interface Props {
  /** Called with the named fields, unless the form is being sent. */
  onSubmit: (fields: FormData) => void;
  isPending: boolean;
  /** "aria" sends a form with invalid fields, for forms that check their values themselves. */
  validationBehavior?: "native" | "aria";
  className?: string;
  ref?: Ref<HTMLFormElement>;
  children: ReactNode;
}

/** A form that is sent once at a time. */
export function Form({
  onSubmit,
  isPending,
  validationBehavior = "native",
  className = "gap-4",
  ref,
  children,
}: Props) {
  return (
    <AriaForm
      ref={ref}
      validationBehavior={validationBehavior}
      className={`flex flex-col ${className}`}
      onSubmit={(event) => {
        event.preventDefault();
        // The form of a dialog that is opened in this form: React reports its submission to both.
        if (event.target !== event.currentTarget) return;
        if (!isPending) onSubmit(new FormData(event.currentTarget));
      }}
    >
      {children}
    </AriaForm>
  );
}
