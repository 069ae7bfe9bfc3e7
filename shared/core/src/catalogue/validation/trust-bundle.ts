import type { FieldError } from '../../meta/status.ts'
import { checkSubdomain } from '../../meta/validate-names.ts'
import { invalidFor, invalidValue } from '../../validation/field-errors.ts'
import { type Part, partOf, textOf } from '../../validation/part.ts'
import { validateSignerName } from './signer-name.ts'

/** The rules of a ClusterTrustBundle. Its certificates are validated by the gateway, since that takes cryptography. */
export function validateTrustBundle(bundle: Part, live: Part | undefined): FieldError[] {
  const [at, signer] = ['spec.signerName', signerOf(bundle)]
  const errors = validateName(textOf(partOf(bundle, 'metadata'), 'name'), signer)
  if (signer !== '') errors.push(...validateSignerName(signer, at))
  if (live !== undefined && signer !== signerOf(live)) errors.push(invalidValue(at, signer, 'field is immutable'))
  return errors
}

function signerOf(bundle: Part): string {
  return textOf(partOf(bundle, 'spec'), 'signerName')
}

function validateName(name: string, signer: string): FieldError[] {
  const at = 'metadata.name'
  const prefix = signer === '' ? '' : `${signer.replaceAll('/', ':')}:`
  if (!name.startsWith(prefix)) {
    return [invalidValue(at, name, `ClusterTrustBundle for signerName ${signer} must be named with prefix ${prefix}`)]
  }
  if (signer === '' && name.includes(':')) {
    return [invalidValue(at, name, 'ClusterTrustBundle without signer name must not have ":" in its name')]
  }
  return invalidFor(at, name, checkSubdomain(name.slice(prefix.length)))
}
