import { failed } from '@orch/core'
import type { GatewayParts } from '../parts.ts'
import type { GatewayRequest } from '../request.ts'
import { pageNotFound, respondObject } from '../respond.ts'
import { explainPath, mayExplain, mayRead } from './steps.ts'

/** Tells how one of the last writes came to its answer, by the id that its answer named. Only a server in one process keeps them. */
export async function explanationRoute(request: GatewayRequest, parts: GatewayParts, auditId: string): Promise<void> {
  const { explanations, authorizers, names } = parts
  if (explanations === undefined) throw pageNotFound()
  if (!(await mayExplain(request.user, names, authorizers))) {
    throw failed(
      403,
      'Forbidden',
      `forbidden: User ${JSON.stringify(request.user.name)} cannot get path ${JSON.stringify(explainPath(names))}`,
      {},
    )
  }
  const kept = explanations.find(auditId)
  if (kept === undefined) throw pageNotFound()
  const { explanation, method, path, code, durationMs } = kept
  const knowsObject = await mayRead(request.user, kept.info, authorizers)
  const told = explanation.tell({ knowsObject, knowsAnswer: request.user.name === explanation.user })
  await respondObject(request, 200, { auditId, method, path, code, durationMs, ...told }, parts)
}
