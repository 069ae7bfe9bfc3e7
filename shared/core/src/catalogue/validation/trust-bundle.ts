import { checkSubdomain, type FieldError, type NameCheck } from '../../meta/index.ts'
import { invalidFor, invalidValue } from '../../validation/field-errors.ts'
import { type Part, partOf, textOf } from '../../validation/part.ts'
import { validateSignerName } from './signer-name.ts'

/** The rules of a ClusterTrustBundle. The gateway validates its certificates, because that needs cryptography. */
export function validateTrustBundle(bundle: Part, live: Part | undefined): FieldError[] {
  const [at, signer] = ['spec.signerName', signerOf(bundle)]
  const name = textOf(partOf(bundle, 'metadata'), 'name')
  // The name is immutable, so it is only checked in a new object.
  const errors = live === undefined ? [] : invalidFor('metadata.name', name, bundleNames(bundle)(name))
  if (signer !== '') errors.push(...validateSignerName(signer, at))
  if (live !== undefined && signer !== signerOf(live)) errors.push(invalidValue(at, signer, 'field is immutable'))
  return errors
}

function signerOf(bundle: Part): string {
  return textOf(partOf(bundle, 'spec'), 'signerName')
}

/** The name of a signer's bundle begins with the signer. */
export function bundleNames(bundle: Part): NameCheck {
  const signer = signerOf(bundle)
  const prefix = signer === '' ? '' : `${signer.replaceAll('/', ':')}:`
  return (name) => {
    if (!name.startsWith(prefix)) return [`ClusterTrustBundle for signerName ${signer} must be named with prefix ${prefix}`]
    if (signer === '' && name.includes(':')) return ['ClusterTrustBundle without signer name must not have ":" in its name']
    return checkSubdomain(name.slice(prefix.length))
  }
}
