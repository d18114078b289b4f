import { expect, test } from "vitest";

import { typedSecret } from "./secondFactor";

test("the secret is shown in groups for typing", () => {
  const uri = "otpauth://totp/groupwork:ada%40school.example?secret=GEZDGNBVGY3TQOJQGE&issuer=groupwork";
  expect(typedSecret(uri)).toBe("GEZD GNBV GY3T QOJQ GE");
  expect(typedSecret("otpauth://totp/groupwork")).toBe("");
});
