/** Every field of `T` is optional, at every depth. */
export type DeepPartial<T> = T extends readonly (infer Item)[]
  ? readonly DeepPartial<Item>[]
  : T extends object
    ? { [Field in keyof T]?: DeepPartial<T[Field]> | undefined }
    : T;

/** A test object with only the fields that the tested function reads. Unknown fields and wrong values do not compile. */
export const partial = <T>(fields: DeepPartial<T>): T => fields as T;
