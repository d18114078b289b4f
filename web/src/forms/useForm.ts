// The state of a form: its values, sending them, and the errors of the service at their fields.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { Problem } from "../api/client";
import { type Family, invalidate } from "../api/queryKeys";
import { currentVersion, type FieldConflict, mergeForm } from "../api/versions";
import { useErrorText } from "../i18n/useErrorText";
import { isFieldError, useFieldErrors } from "./fieldErrors";

interface FormConfig<Values extends object, Result> {
  initial: Values | (() => Values);
  /** Sends the values; uncontrolled fields, such as passwords, are in `fields`. */
  send: (values: Values, fields: FormData) => Promise<Result>;
  /** Families of queries that are refetched before `onSent`. */
  refreshes?: readonly Family[];
  onSent?: (result: Result, values: Values) => unknown;
  onFailed?: (problem: unknown) => void;
  onSettled?: () => unknown;
  /** Error codes without a path that belong to a field. */
  codes?: Readonly<Record<string, string>>;
}

/** What `FormBody` needs of a form. */
export interface SendableForm {
  isPending: boolean;
  submit: (fields: FormData) => void;
  problem: unknown;
  /** The error, unless it is shown at fields. Complete after the fields have been rendered. */
  unshownProblem: () => unknown;
}

/** The sending state of a mutation, for forms whose values are kept elsewhere. */
export const mutationForm = ({ isPending, error }: { isPending: boolean; error: unknown }) => ({
  isPending,
  problem: error,
  unshownProblem: () => error,
});

/** Props of a field: `<TextField {...form.field("name")} />`. */
interface FieldProps<Value> {
  value: Value;
  onChange: (value: Value) => void;
  problem: string | undefined;
}

export interface FormState<Values extends object, Result> extends SendableForm {
  values: Values;
  set: (part: Partial<Values>) => void;
  /** Props of a field; `path` is its path in the request body, where it differs from the name. */
  field: <Name extends keyof Values & string>(name: Name, path?: string) => FieldProps<Values[Name]>;
  /** Props of a checkbox. */
  check: (name: BooleanName<Values>) => { isSelected: boolean; onChange: (isSelected: boolean) => void };
  /** The error text of a field without a value here, by its path in the request body. */
  problemAt: (path: string) => string | undefined;
  result: Result | undefined;
  /** Removes the error and the result. */
  reset: () => void;
}

type BooleanName<Values> = { [Name in keyof Values]: Values[Name] extends boolean ? Name : never }[keyof Values] &
  string;

export function useForm<Values extends object, Result>(config: FormConfig<Values, Result>): FormState<Values, Result> {
  const { send, refreshes = [], onSent, onFailed, onSettled, codes = {} } = config;
  const cache = useQueryClient();
  const errorText = useErrorText();
  const [values, setValues] = useState(config.initial);
  const set = (part: Partial<Values>) => setValues((before) => ({ ...before, ...part }));
  const sending = useMutation({
    mutationFn: (fields: FormData) => send(values, fields),
    onSuccess: async (result) => {
      if (refreshes.length > 0) await invalidate(cache, ...refreshes);
      await onSent?.(result, values);
    },
    ...(onFailed ? { onError: onFailed } : {}),
    ...(onSettled ? { onSettled } : {}),
  });
  const problem: unknown = sending.error;
  const fieldErrors = useFieldErrors(problem);
  const codePath = problem instanceof Problem ? codes[problem.code] : undefined;
  const shownPaths = new Set<string>();
  const problemAt = (path: string): string | undefined => {
    shownPaths.add(path);
    return codePath === path ? errorText(problem) : fieldErrors(path).problem;
  };
  const isShown = () => (codePath !== undefined && shownPaths.has(codePath)) || isFieldError(problem, [...shownPaths]);
  return {
    values,
    set,
    field: (name, path = name) => ({
      value: values[name],
      onChange: (value) => setValues((before) => ({ ...before, [name]: value })),
      problem: problemAt(path),
    }),
    check: (name) => ({
      isSelected: values[name] as boolean,
      onChange: (isSelected) => setValues((before) => ({ ...before, [name]: isSelected })),
    }),
    problemAt,
    isPending: sending.isPending,
    submit: sending.mutate,
    problem,
    unshownProblem: () => (problem === null || isShown() ? null : problem),
    result: sending.data,
    reset: sending.reset,
  };
}

interface VersionedFormConfig<Item extends object | undefined, Values extends object, Result> extends Omit<
  FormConfig<Values, Result>,
  "initial" | "send" | "onFailed"
> {
  /** The object as it was loaded, with its version. */
  item: Item;
  valuesOf: (item: Item) => Values;
  /** Sends the values of a form that is based on this version of the object. */
  send: (values: Values, base: Item) => Promise<Result>;
}

/** A form over an object that others may change meanwhile: a rejected change is merged, and can be sent again. */
export function useVersionedForm<Item extends object | undefined, Values extends object, Result>({
  item,
  valuesOf,
  send,
  ...rest
}: VersionedFormConfig<Item, Values, Result>) {
  const [base, setBase] = useState(item);
  const [differences, setDifferences] = useState<FieldConflict<Values>[]>();
  const form = useForm<Values, Result>({
    ...rest,
    initial: () => valuesOf(item),
    send: (values) => send(values, base),
    onFailed: (problem) => {
      const now = currentVersion<NonNullable<Item>>(problem);
      if (now === undefined) return;
      const merged = mergeForm(valuesOf(base), form.values, valuesOf(now));
      form.set(merged.form);
      setDifferences(merged.differences);
      setBase(now);
    },
    onSent: (result, values) => {
      setDifferences(undefined);
      return rest.onSent?.(result, values);
    },
  });
  return {
    ...form,
    /** The version on which the form is based. */
    base,
    setBase,
    /** The fields of a rejected change that differ from the current version, until the change is saved. */
    differences: form.problem === null && !form.isPending ? undefined : differences,
    unshownProblem: () => (currentVersion(form.problem) === undefined ? form.unshownProblem() : null),
  };
}
