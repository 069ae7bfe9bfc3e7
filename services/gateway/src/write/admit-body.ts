import type { Resource, Subresource } from '@orch/core/catalogue'
import type { ApiObject } from '@orch/core/meta'
import type { Admitting } from '../admission/admitter.ts'
import type { Draws } from '../request/draws.ts'
import { type AdmissionParts, namespaceOf, optionsOf } from './admission.ts'
import { afterAdmission } from './admitted-object.ts'
import type { PlannedWrite } from './draft.ts'

/** The dependencies of calling admission for a body. */
export type AdmitBodyParts = {
  readonly admitter: Pick<AdmissionParts['admitter'], 'mutate' | 'validate'>
  readonly draws: Pick<Draws, 'writeId'>
}

/** A request with a body that is not the object it writes: an eviction, a binding, the options of a connection. */
export interface BodyRequest<Body = ApiObject> extends Pick<PlannedWrite, 'request' | 'target'> {
  readonly operation: 'CREATE' | 'CONNECT'
  /** The type of the body. */
  readonly described: Pick<Resource | Subresource, 'group' | 'kind' | 'version' | 'type' | 'apiVersion' | 'readers'>
  readonly name: string
  readonly object: Body
  /** The client's options besides the body; a connection has none. */
  readonly options: { readonly isDryRun: boolean; readonly object: unknown }
}

/** Both phases of admission; returns the body after admission. */
export async function admitBody<Body>(asked: BodyRequest<Body>, parts: AdmitBodyParts): Promise<Body | ApiObject> {
  const object = await mutateBody(asked, parts)
  await validateBody({ ...asked, object }, parts)
  return object
}

/** Mutating admission: returns the changed body. */
export async function mutateBody<Body>(asked: BodyRequest<Body>, parts: AdmitBodyParts): Promise<Body | ApiObject> {
  const object = (await parts.admitter.mutate(admittingOf(asked, parts)))?.object
  return object === undefined ? asked.object : afterAdmission(asked.described, object)
}

/** Validating admission. */
export async function validateBody(asked: BodyRequest<unknown>, parts: AdmitBodyParts): Promise<void> {
  await parts.admitter.validate(admittingOf(asked, parts))
}

function admittingOf(asked: BodyRequest<unknown>, { draws }: AdmitBodyParts): Admitting {
  const { request, target, operation, described, name, object, options } = asked
  const { group, version, plural } = target.served.resource
  return {
    request,
    attributes: {
      operation,
      group,
      version,
      kind: described.kind,
      resource: plural,
      subresource: target.subresource?.name ?? '',
      namespace: namespaceOf(target, name),
      name,
      object,
      oldObject: undefined,
      options: optionsOf(operation, options.isDryRun, options.object, request),
      user: request.user,
      dryRun: options.isDryRun,
      requestId: request.auditId,
      writeId: draws.writeId(),
    },
  }
}
