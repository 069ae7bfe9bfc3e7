import { X509Certificate } from 'node:crypto'
import { fieldSets } from '@orch/core/apply'
import type { FieldError } from '@orch/core/meta'
import { type BuiltIn, bytes, goValue, invalidValue } from '@orch/core/schema'
import { findRequestProblem } from './certificate-content.ts'
import { issuedStatus, validateIssued } from './certificate-parts.ts'
import { sorted } from './field-order.ts'
import type { RulesOf } from './kind-rules.ts'
import { specAndStatus, withMetadata } from './object-part.ts'

/** A write of the status does not own conditions, which approval writes; approval does not own the certificate. */
const unmarkedBy: Readonly<Record<string, fieldSets.FieldSet>> = {
  status: fieldSets.setOfPaths([['f:spec'], ['f:status', 'f:conditions']]),
  approval: fieldSets.setOfPaths([['f:spec'], ['f:status', 'f:certificate']]),
}

/** The server sets the requester of a certificate, and the request is immutable. */
export const certificateRequestStrategy: RulesOf<'certificates/v1.CertificateSigningRequest'> = {
  prepareCreate(object, _names, { name, uid, groups, extra }) {
    const { uid: _uid, groups: _groups, extra: _extra, ...spec } = object.spec
    object.spec = {
      ...spec,
      username: name,
      ...(uid === '' ? {} : { uid }),
      ...(groups.length === 0 ? {} : { groups: [...groups] }),
      ...(Object.keys(extra).length === 0 ? {} : { extra: sorted(extra) }),
    }
  },
  prepareUpdate(object, live) {
    object.spec = live.spec
  },
  status: {
    keptMetadata: [],
    merge: (given, live, now) => ({ ...withMetadata(given, live), status: issuedStatus(given, live, now) }),
    validateToo: validateIssued,
  },
  issued(object, live, { labelDomain }) {
    const { expirationSeconds, signerName } = live.spec
    const certificate = object.status?.certificate ?? ''
    if (certificate === '' || (live.status?.certificate ?? '') !== '' || expirationSeconds == null) return undefined
    // As in kube-apiserver, all other signers share a label.
    const signer = signerName.startsWith(`${labelDomain}/`) ? signerName : 'other'
    return { signer, isHonored: isHonored(Buffer.from(certificate, 'base64'), expirationSeconds) }
  },
  unmarked: (subresource) => unmarkedBy[subresource ?? ''] ?? specAndStatus,
  validate: (object, live) => (live === undefined ? validateRequest(object) : []),
}

/** Tolerance of five minutes, as short certificates begin in the past, and a twentieth. */
function isHonored(pem: Buffer, wantedSeconds: number): boolean {
  let seconds: number
  try {
    const { validFrom, validTo } = new X509Certificate(pem)
    seconds = (Date.parse(validTo) - Date.parse(validFrom)) / 1000
  } catch {
    return false
  }
  return Math.abs(wantedSeconds - seconds) < 5 * 60 + wantedSeconds / 20
}

/** The requester of a certificate must hold the key: the request is signed with it. */
function validateRequest({ spec }: BuiltIn<'certificates/v1.CertificateSigningRequest'>): FieldError[] {
  // Absent bytes are null.
  const request = spec.request ?? ''
  const problem = findRequestProblem(Buffer.from(request, 'base64').toString('latin1'))
  return problem === undefined ? [] : [invalidValue('spec.request', goValue(bytes(), request), problem)]
}
