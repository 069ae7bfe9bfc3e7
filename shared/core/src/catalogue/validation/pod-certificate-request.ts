import { checkSubdomain, type FieldError } from '../../meta/index.ts'
import { invalidFor, invalidValue, requiredValue, tooLongValue } from '../../validation/field-errors.ts'
import { type Part, partOf, textOf } from '../../validation/part.ts'
import type { RuleContext, TypeRules } from '../../validation/rule-book.ts'
import { bytesOf } from '../../validation/texts.ts'
import { numberOf } from './checks.ts'
import { isOwnSigner, ownValidityMax, validateHints, validityMax, validityMin } from './pod/projected-certificates.ts'
import { validateSignerName } from './signer-name.ts'

/** A request for a Pod's certificate. The gateway validates its DER, because that needs cryptography. */
export const podCertificateRules: Readonly<Record<string, TypeRules>> = {
  'certificates/v1beta1.PodCertificateRequestSpec': [{ when: (_spec, { live }) => live === undefined, steps: [validateRequest] }],
}

const uidBytesMax = 128

function validateRequest(errors: FieldError[], spec: Part, at: string, { names }: RuleContext): void {
  const signer = textOf(spec, 'signerName')
  errors.push(...validateSignerName(signer, `${at}.signerName`))
  validateHints(errors, partOf(spec, 'unverifiedUserAnnotations'), `${at}.unverifiedUserAnnotations`)
  for (const owner of ['pod', 'serviceAccount', 'node']) {
    const [name, uid] = [textOf(spec, `${owner}Name`), textOf(spec, `${owner}UID`)]
    errors.push(...invalidFor(`${at}.${owner}Name`, name, checkSubdomain(name)))
    if (uid === '') errors.push(invalidValue(`${at}.${owner}UID`, uid, 'must not be empty'))
    if (bytesOf(uid) > uidBytesMax) errors.push(tooLongValue(`${at}.${owner}UID`, uidBytesMax))
  }
  const seconds = numberOf(spec, 'maxExpirationSeconds')
  const [min, max] = [validityMin, isOwnSigner(signer, names) ? ownValidityMax : validityMax]
  if (seconds === undefined) errors.push(requiredValue(`${at}.maxExpirationSeconds`, 'must be set'))
  else if (seconds < min || seconds > max) {
    errors.push(invalidValue(`${at}.maxExpirationSeconds`, seconds, `must be in the range [${min}, ${max}]`))
  }
}
