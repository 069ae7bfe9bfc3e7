import { type KeyObject, X509Certificate } from 'node:crypto'
import { writersMetadata } from '@orch/core/catalogue'
import { jsonEqual } from '@orch/core/json'
import type { FieldError } from '@orch/core/meta'
import { type BuiltIn, invalidValue, isPodCertificateRequest, requiredValue, unsupportedValue } from '@orch/core/schema'
import { tooLongValue } from '@orch/core/validation'
import { pemBlocks } from '@orch/platform'
import { badProof, findProofProblem, findStubProblem, keyOfRequest, readPublicKey } from './certificate-content.ts'
import type { RulesOf } from './kind-rules.ts'
import { statusKeeping } from './object-part.ts'

type Request = BuiltIn<'certificates/v1beta1.PodCertificateRequest'>
type RequestStatus = NonNullable<Request['status']>

const stubBytesMax = 10 * 1024
const stubAt = 'spec.stubPKCS10Request'

/** The signer answers once, with a certificate for the requested key. */
export const podCertificateStrategy: RulesOf<'certificates/v1beta1.PodCertificateRequest'> = {
  isValidatedLast: true,
  validate({ spec }, live) {
    if (live !== undefined) return []
    const [stub, key, proof] = [spec.stubPKCS10Request, spec.pkixPublicKey, spec.proofOfPossession].map((text) =>
      Buffer.from(text ?? '', 'base64'),
    )
    const [hasStub, hasKey, hasProof] = [stub, key, proof].map((bytes) => bytes !== undefined && bytes.length > 0)
    if (stub === undefined || hasStub === hasKey || hasKey !== hasProof) {
      return [withoutValue('spec', 'exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set')]
    }
    if (!hasStub) return validateProof(spec)
    if (stub.length > stubBytesMax) return [tooLongValue(stubAt, stubBytesMax)]
    const problem = findStubProblem(stub)
    if (problem === undefined) return []
    return [problem.shown === undefined ? withoutValue(stubAt, problem.detail) : invalidValue(stubAt, problem.shown, problem.detail)]
  },
  status: {
    ...statusKeeping(writersMetadata),
    validateToo(object, live, nowMs) {
      if (!isPodCertificateRequest(object) || !isPodCertificateRequest(live)) return []
      const [{ spec, status = {} }, { status: before = {} }] = [object, live]
      const errors = validateOutcome(status)
      return errors.length > 0 ? errors : validateAnswer(status, before, { spec, nowMs })
    },
  },
}

const keyAt = 'spec.pkixPublicKey'
const proofAt = 'spec.proofOfPossession'
const keyBytesMax = 10 * 1024

/** A key, and the UID of the Pod signed by its owner. */
function validateProof({ podUID, pkixPublicKey = '', proofOfPossession = '' }: Request['spec']): FieldError[] {
  const [key, proof] = [Buffer.from(pkixPublicKey, 'base64'), Buffer.from(proofOfPossession, 'base64')]
  if (key.length > keyBytesMax) return [tooLongValue(keyAt, keyBytesMax)]
  if (proof.length > keyBytesMax) return [tooLongValue(proofAt, keyBytesMax)]
  const publicKey = readPublicKey(key)
  if (publicKey === undefined) return [invalidValue(keyAt, pkixPublicKey, 'must be a valid PKIX-serialized public key')]
  const problem = findProofProblem(publicKey, proof, podUID)
  if (problem === undefined) return []
  if (problem.detail === badProof) return [withoutValue(proofAt, problem.detail)]
  return [invalidValue(keyAt, problem.shown ?? pkixPublicKey, problem.detail)]
}

const outcomes = ['Issued', 'Denied', 'Failed']

/** At most one outcome, which must be true. */
function validateOutcome({ conditions }: RequestStatus): FieldError[] {
  return (conditions ?? []).flatMap(({ type, status }, index) => {
    // As in kube-apiserver, with a dot.
    const at = `status.conditions.[${index}]`
    if (!outcomes.includes(type)) return [unsupportedValue(`${at}.type`, type, outcomes)]
    const only = 'There may be at most one condition with type "Issued", "Denied", or "Failed"'
    return [
      ...(index > 0 ? [invalidValue(`${at}.type`, type, only)] : []),
      ...(status === 'True' ? [] : [unsupportedValue(`${at}.status`, status, ['True'])]),
    ]
  })
}

/** The answered request, and the wall clock. */
interface Answered {
  readonly spec: Request['spec']
  readonly nowMs: number
}

function validateAnswer(status: RequestStatus, before: RequestStatus, answered: Answered): FieldError[] {
  if (outcomeOf(before) !== undefined) {
    return jsonEqual(status, before) ? [] : [withoutValue('status', 'immutable after PodCertificateRequest is issued, denied, or failed')]
  }
  switch (outcomeOf(status)) {
    case 'Issued':
      return validateIssued(status, answered)
    case 'Denied':
    case 'Failed': {
      const { conditions: _conditions, ...others } = status
      if (Object.keys(others).length === 0) return []
      return [withoutValue('status', 'non-condition status fields must be empty when denying or failing the PodCertificateRequest')]
    }
    default:
      if (jsonEqual(status, before)) return []
      return [withoutValue('status', 'status is immutable unless transitioning to "Issued", "Denied", or "Failed"')]
  }
}

function outcomeOf({ conditions }: RequestStatus): string | undefined {
  return conditions?.find(({ type }) => outcomes.includes(type))?.type
}

const chainAt = 'status.certificateChain'
const chainBytesMax = 100 * 1024
const [minute, hour] = [60_000, 3_600_000]

function validateIssued(status: RequestStatus, answered: Answered): FieldError[] {
  const { certificateChain: chain = '' } = status
  if (Buffer.byteLength(chain) > chainBytesMax) return [tooLongValue(chainAt, chainBytesMax)]
  const refuse = (detail: string): FieldError[] => [invalidValue(chainAt, chain, detail)]
  const blocks = pemBlocks(chain)
  if (blocks.length === 0) return refuse('issued certificate chain must contain at least one certificate')
  if (blocks.some(({ type }) => type !== 'CERTIFICATE')) {
    return refuse('issued certificate chain must consist entirely of CERTIFICATE PEM blocks')
  }
  const [leaf, ...others] = blocks.map(({ bytes }) => toCertificate(bytes))
  if (leaf === undefined) return refuse('leaf certificate does not parse as valid X.509')
  const wanted = keyOf(answered.spec)
  if (wanted?.equals(leaf.publicKey) !== true) return refuse('leaf certificate was not issued to the requested public key')
  const errors = validateTimes(status, leaf, answered)
  if (errors.length > 0) return errors
  return others.includes(undefined) ? refuse('intermediate certificate does not parse as valid X.509') : []
}

function keyOf({ stubPKCS10Request = '', pkixPublicKey = '' }: Request['spec']): KeyObject | undefined {
  if (stubPKCS10Request !== '') return keyOfRequest(Buffer.from(stubPKCS10Request, 'base64'))
  return readPublicKey(Buffer.from(pkixPublicKey, 'base64'))
}

function toCertificate(der: Buffer): X509Certificate | undefined {
  try {
    return new X509Certificate(der)
  } catch {
    return undefined
  }
}

function validateTimes(
  { notBefore, notAfter, beginRefreshAt }: RequestStatus,
  { validFrom, validTo }: X509Certificate,
  { spec: { maxExpirationSeconds }, nowMs }: Answered,
): FieldError[] {
  const certificate = 'must be present and consistent with the issued certificate'
  if (notBefore == null || notAfter == null || beginRefreshAt == null) {
    return [
      ...(notBefore == null ? [requiredValue('status.notBefore', certificate)] : []),
      ...(notAfter == null ? [requiredValue('status.notAfter', certificate)] : []),
      ...(beginRefreshAt == null
        ? [requiredValue('status.beginRefreshAt', 'must be present and in the range [notbefore+10min, notafter-10min]')]
        : []),
    ]
  }
  const [start, end, refresh] = [Date.parse(notBefore), Date.parse(notAfter), Date.parse(beginRefreshAt)]
  const seconds = (end - start) / 1000
  const max = maxExpirationSeconds ?? 0
  const inTurn: readonly (readonly [isWrong: boolean, field: string, value: string, detail: string])[] = [
    [start !== Date.parse(validFrom), 'status.notBefore', notBefore, 'must be set to the NotBefore time encoded in the leaf certificate'],
    [
      Math.abs(start - nowMs) >= 5 * minute,
      'status.notBefore',
      notBefore,
      "must be set to within 5 minutes of kube-apiserver's current time",
    ],
    [end !== Date.parse(validTo), 'status.notAfter', notAfter, 'must be set to the NotAfter time encoded in the leaf certificate'],
    [end - start < hour, chainAt, `${seconds}s`, 'leaf certificate lifetime must be >= 1 hour'],
    [seconds > max, chainAt, `${seconds}s`, `leaf certificate lifetime must be <= spec.maxExpirationSeconds (${max})`],
    [refresh < start + 10 * minute, 'status.beginRefreshAt', beginRefreshAt, 'must be at least 10 minutes after status.notBefore'],
    [refresh > end - 10 * minute, 'status.beginRefreshAt', beginRefreshAt, 'must be at least 10 minutes before status.notAfter'],
  ]
  const wrong = inTurn.find(([isWrong]) => isWrong)
  return wrong === undefined ? [] : [invalidValue(wrong[1], wrong[2], wrong[3])]
}

/** An invalid value that is not shown. */
function withoutValue(field: string, detail: string): FieldError {
  return { reason: 'FieldValueInvalid', field, message: `Invalid value: ${detail}` }
}
