import type { Step } from './step.ts'

/** Writes down that the request has come, and from whom. Nothing is written without a policy. */
export const audit: Step = (request, { options: { auditor } }) => {
  request.isKnown = true
  return auditor?.begin(request)
}
