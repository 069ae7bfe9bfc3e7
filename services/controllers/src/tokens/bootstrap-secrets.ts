import type { Names } from '@orch/core/names'
import { bootstrapSecretType } from '@orch/core/tokens'

/** Selects the Secrets of bootstrap tokens, which are in the system namespace. */
export function bootstrapSecrets(names: Names) {
  return { select: { namespace: names.systemNamespace, fieldSelector: `type=${bootstrapSecretType(names)}` } }
}
