import { ref } from '../../../description/values.ts'
import { checkSubdomain, type FieldError, joinTexts } from '../../../meta/index.ts'
import type { Names } from '../../../names.ts'
import { goValue } from '../../../schema/go-value.ts'
import { invalidFor, invalidValue, requiredValue, tooLongValue, unsupportedValue } from '../../../validation/field-errors.ts'
import { optionalPart, type Part, partOf, textOf } from '../../../validation/part.ts'
import type { RuleContext } from '../../../validation/rule-book.ts'
import { validateLabelKey } from '../../../validation/selector.ts'
import { bytesOf } from '../../../validation/texts.ts'
import { numberOf, requireText } from '../checks.ts'
import { validateSignerName } from '../signer-name.ts'
import { validateFilePath } from './paths.ts'

/** Fields with the paths of files for a certificate and its key. */
export const certificatePaths = ['credentialBundlePath', 'keyPath', 'certificateChainPath']

/** Validates a projection of one trust bundle, or of all bundles of a signer. */
export function validateBundle(errors: FieldError[], bundle: Part, at: string, context: RuleContext): void {
  const [name, signer, selector] = [bundle['name'], bundle['signerName'], optionalPart(bundle, 'labelSelector')]
  if (typeof name === 'string' && typeof signer === 'string') {
    errors.push(
      invalidValue(at, goValue(ref('core/v1.ClusterTrustBundleProjection'), bundle), 'only one of name and signerName may be used'),
    )
  } else if (typeof name === 'string') {
    if (name === '') errors.push(requiredValue(`${at}.name`, 'must be a valid object name'))
    // The name of a signer's bundle begins with the signer: `example.com:signer:name`.
    const problems = checkSubdomain(name.slice(name.lastIndexOf(':') + 1)).map((problem) =>
      joinTexts(['not a valid clustertrustbundlename', problem], ': '),
    )
    errors.push(...invalidFor(`${at}.name`, name, problems))
    if (selector !== undefined) {
      const shown = goValue(ref('meta/v1.LabelSelector'), selector)
      errors.push(invalidValue(`${at}.labelSelector`, shown, 'labelSelector must be unset if name is specified'))
    }
  } else if (typeof signer === 'string') {
    if (signer === '') errors.push(requiredValue(`${at}.signerName`, 'must be a valid signer name'))
    errors.push(...validateSignerName(signer, `${at}.signerName`))
    if (selector !== undefined) context.rules.of('meta/v1.LabelSelector')(errors, selector, `${at}.labelSelector`, context)
  } else errors.push(requiredValue(at, 'either name or signerName must be specified'))
  if (requireText(errors, { part: bundle, name: 'path', at })) validateFilePath(errors, textOf(bundle, 'path'), `${at}.path`)
}

const hintBytesMax = 256 * 1024
const keyTypes = ['RSA3072', 'RSA4096', 'ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519']
const day = 86_400
/** Minimum and maximum validity of a requested certificate in seconds; the last bound is for the signers of Kubernetes. */
export const validityMin = 3600
export const [validityMax, ownValidityMax] = [91 * day, day]

/** Validates a projection of a key and certificate that the node requests from a signer. */
export function validateCertificate(errors: FieldError[], certificate: Part, at: string, { names }: RuleContext): void {
  const signer = textOf(certificate, 'signerName')
  errors.push(...validateSignerName(signer, `${at}.signerName`))
  validateHints(errors, partOf(certificate, 'userAnnotations'), `${at}.userAnnotations`)
  const keyType = textOf(certificate, 'keyType')
  if (!keyTypes.includes(keyType)) errors.push(unsupportedValue(`${at}.keyType`, keyType, keyTypes))
  const seconds = numberOf(certificate, 'maxExpirationSeconds')
  const max = isOwnSigner(signer, names) ? ownValidityMax : validityMax
  const refuse = (bound: string): void =>
    void errors.push(invalidValue(`${at}.maxExpirationSeconds`, seconds, `if provided, maxExpirationSeconds must be ${bound}`))
  if (seconds !== undefined && seconds < validityMin) refuse(`>= ${validityMin}`)
  if (seconds !== undefined && seconds > max) refuse(`<= ${max}`)
  for (const name of certificatePaths)
    if (textOf(certificate, name) !== '') validateFilePath(errors, textOf(certificate, name), `${at}.${name}`)
  if (certificatePaths.some((name) => textOf(certificate, name) !== '')) return
  errors.push(requiredValue(at, 'specify at least one of credentialBundlePath, keyPath, and certificateChainPath'))
}

/** True for signers of Kubernetes. */
export function isOwnSigner(signer: string, { labelDomain }: Names): boolean {
  const [domain = ''] = signer.split('/')
  return domain === labelDomain || domain.endsWith(`.${labelDomain}`)
}

/** Annotations for a signer must have a domain in their names, in any case. */
export function validateHints(errors: FieldError[], hints: Part, path: string): void {
  let bytes = 0
  for (const given in hints) {
    const key = given.toLowerCase()
    bytes += bytesOf(given) + bytesOf(textOf(hints, given))
    const problems = validateLabelKey(key, path)
    if (problems.length > 0) errors.push(...problems)
    else if (!key.includes('/')) errors.push(invalidValue(path, key, 'must be a domain-prefixed key (such as "acme.io/foo")'))
  }
  if (bytes > hintBytesMax) errors.push(tooLongValue(path, hintBytesMax))
}
