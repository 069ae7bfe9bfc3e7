import { failed } from '@orch/core/meta'
import { pageNotFound } from '../request/respond.ts'
import { type ExplainParts, explainPath, mayExplain, mayRead } from '../steps/explain.ts'
import { type DocumentHandler, objectResponse } from './document.ts'

/** Serves the explanation of one of the last writes, by the `Audit-Id` of its response. Only a single-process server stores them. */
export const explanationRoute: DocumentHandler<ExplainParts> = async (context) => {
  const { request, parts } = context
  const { explanations, authorizers, names } = parts
  if (explanations === undefined) throw pageNotFound()
  if (!(await mayExplain(request.user, names, authorizers))) {
    throw failed(
      403,
      'Forbidden',
      `forbidden: User ${JSON.stringify(request.user.name)} cannot get path ${JSON.stringify(explainPath(names))}`,
      { details: {} },
    )
  }
  const kept = explanations.find(context.param('id'))
  if (kept === undefined) throw pageNotFound()
  const { auditId, explanation, method, path, code, durationMs } = kept
  const knowsObject = await mayRead(request.user, kept.info, authorizers)
  const shown = explanation.show({ knowsObject, knowsAnswer: request.user.name === explanation.user })
  return objectResponse(context, { auditId, method, path, code, durationMs, ...shown })
}
