import type { FieldError } from '@orch/core/meta'
import { invalidValue } from '@orch/core/schema'
import { tooLongValue } from '@orch/core/validation'
import { findAuthoritiesProblems } from './certificate-content.ts'
import type { RulesOf } from './kind-rules.ts'

const bundleBytesMax = 1024 * 1024

/** Unchanged certificates are not validated again. */
export const trustBundleStrategy: RulesOf<'certificates/v1.ClusterTrustBundle'> = {
  isValidatedLast: true,
  validate: ({ spec }, live) => (spec.trustBundle === live?.spec.trustBundle ? [] : validateBundle(spec.trustBundle)),
}

function validateBundle(bundle: string): FieldError[] {
  const at = 'spec.trustBundle'
  if (Buffer.byteLength(bundle) > bundleBytesMax) return [tooLongValue(at, bundleBytesMax)]
  return findAuthoritiesProblems(bundle).map((problem) => invalidValue(at, '<value omitted>', problem))
}
