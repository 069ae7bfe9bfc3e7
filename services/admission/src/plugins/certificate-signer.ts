import type { AdmissionAccess, Attributes } from '@orch/core/contracts'
import { domainGroup, type Names } from '@orch/core/names'
import { allowed, denied, forbid, type Inquiry, type Verdict } from '../plugin.ts'
import { objectsOf } from './objects.ts'

/** Actions on requests of a signer. */
export function checkSigner(
  attributes: Attributes,
  inquiry: Inquiry,
  { verb, names }: { verb: 'approve' | 'sign'; names: Names },
): Verdict {
  // The signer of the live object, as a request cannot choose its signer.
  const { signerName = '' } = objectsOf('certificates/v1.CertificateSigningRequest', attributes).oldObject?.spec ?? {}
  return checkRight(attributes, inquiry, { signerName, verb, names, refusal: `user not permitted to ${verb} requests with signerName` })
}

interface SignerRight {
  readonly signerName: string
  readonly verb: string
  readonly names: Names
  /** The message before the name of the signer. */
  readonly refusal: string
}

/** Needs permission for this signer or for all signers of its domain. */
export function checkRight(attributes: Attributes, inquiry: Inquiry, { signerName, verb, names, refusal }: SignerRight): Verdict {
  const [domain] = signerName.split('/')
  const signers = { verb, group: domainGroup(names, 'certificates'), version: '*', resource: 'signers', subresource: '', namespace: '' }
  const accesses = [signerName, `${domain}/*`].map((name): AdmissionAccess => ({ ...signers, name }))
  const decisions = accesses.map((access) => inquiry.decisionOn(access))
  if (decisions.some((decision) => decision === undefined)) return { kind: 'asks', accesses }
  if (decisions.some((decision) => decision?.isAllowed)) return allowed
  return denied(forbid(attributes, `${refusal} "${signerName}"`))
}
