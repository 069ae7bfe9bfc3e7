import { aWebhookFile, webhookLink } from '../identity/webhook.ts'

interface Review {
  readonly apiVersion: string
  readonly spec: {
    readonly user: string
    readonly resourceAttributes?: { readonly verb: string; readonly resource: string }
    readonly nonResourceAttributes?: { readonly verb: string; readonly path: string }
  }
}

/** An authorization webhook that decides by the user's name; `asked` has a line for each question: user, verb and target. */
export async function anAccessWebhook(isAllowed: (user: string) => boolean) {
  const asked: string[] = []
  const file = await aWebhookFile((review) => {
    const { apiVersion, spec } = review as Review
    const { resourceAttributes: about, nonResourceAttributes: path } = spec
    asked.push([spec.user, about?.verb ?? path?.verb, about?.resource ?? path?.path].join(' '))
    return { status: 200, body: { apiVersion, kind: 'SubjectAccessReview', status: { allowed: isAllowed(spec.user) } } }
  })
  /** The webhook's entry in an authorization configuration. */
  const link = (name: string, fields: object = {}) => webhookLink(file, name, { matchConditionSubjectAccessReviewVersion: 'v1', ...fields })
  return { asked, file, link }
}
