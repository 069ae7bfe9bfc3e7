import type { Attributes } from '@orch/core/contracts'
import { isJsonObject, isTextMap } from '@orch/core/json'
import { domainGroup, type Names } from '@orch/core/names'
import { ExpiringMap, RareLines, sleep } from '@orch/platform'
import { ConfigurationError } from '../configuration.ts'
import { limits } from '../limits.ts'
import { allowed, denied, forbid, type Inquiry, type Plugin, type PluginNeeds, type ReviewSender, type Verdict } from '../plugin.ts'
import { type ImagePolicy, readImagePolicy } from './image-policy-configuration.ts'
import { podOf } from './pod.ts'

interface Asking extends Pick<PluginNeeds, 'clock' | 'random'> {
  readonly policy: ImagePolicy
  readonly send: ReviewSender
  readonly names: Names
}

interface ReviewStatus {
  readonly isAllowed: boolean
  readonly reason: string
  readonly auditAnnotations: Readonly<Record<string, string>>
}

/** ImagePolicyWebhook: a remote server decides if the images of a Pod are allowed. Its answers are cached for a configured time. */
export function imagePolicyWebhook({ catalogue: { names }, configuration, settings, clock, log, random }: PluginNeeds): Plugin {
  const send = settings.imageReviews
  if (configuration === undefined || send === undefined) {
    throw new ConfigurationError('ImagePolicyWebhook: expected a configuration of it in the admission configuration file')
  }
  const asking: Asking = { policy: readImagePolicy(configuration, names), send, names, clock, random }
  const remembered = new ExpiringMap<ReviewStatus>(limits.imageAnswersMax, clock)
  const rareLines = new RareLines(clock)
  return {
    admissionRules: [
      {
        phase: 'validate',
        operations: ['CREATE', 'UPDATE'],
        groups: [''],
        resources: ['pods', 'pods/ephemeralcontainers'],
        namespaces: [],
      },
    ],
    async validate(attributes, inquiry) {
      const spec = specOf(attributes, names)
      const question = JSON.stringify(spec)
      const known = remembered.get(question)
      if (known !== undefined) return verdictOn(known.value, attributes, names)
      try {
        const status = await review(spec, asking, inquiry)
        remembered.set(question, status, status.isAllowed ? asking.policy.allowTtlMs : asking.policy.denyTtlMs)
        return verdictOn(status, attributes, names)
      } catch (error) {
        rareLines.note('', (leftOut) => log.warn({ err: error, plugin: 'ImagePolicyWebhook', leftOut }, 'images cannot be reviewed'))
        return withoutAnswer(error, attributes, asking)
      }
    },
  }
}

interface ReviewSpec {
  readonly containers: readonly { readonly image: string }[]
  readonly annotations?: Readonly<Record<string, string>>
  readonly namespace: string
}

function specOf(attributes: Attributes, names: Names): ReviewSpec {
  const { subresource, namespace } = attributes
  const { metadata, spec } = podOf(attributes)
  const { containers, initContainers, ephemeralContainers } = spec
  const reviewed = subresource === '' ? [...(containers ?? []), ...(initContainers ?? [])] : (ephemeralContainers ?? [])
  const word = `.${domainGroup(names, 'image-policy')}/`
  const annotations = Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([key]) => key.includes(word)))
  return {
    containers: reviewed.map(({ image = '' }) => ({ image })),
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    namespace,
  }
}

/** Retries temporary failures until the deadline of the request. */
async function review(spec: ReviewSpec, { policy, send, names, clock, random }: Asking, { context }: Inquiry): Promise<ReviewStatus> {
  const apiVersion = `${domainGroup(names, 'imagepolicy')}/v1alpha1`
  const body = JSON.stringify({ kind: 'ImageReview', apiVersion, metadata: { creationTimestamp: null }, spec, status: { allowed: false } })
  const endMs = clock.monotonic() + Math.min(context.timeoutMs ?? limits.imageReviewMs, limits.imageReviewMs)
  for (let attempt = 1; ; attempt++) {
    const answer = await sent(send, body, endMs - clock.monotonic())
    if (answer.kind === 'answered') return statusIn(answer.body, apiVersion)
    const pauseMs = policy.retryBackoffMs * 1.5 ** (attempt - 1) * (1 + 0.2 * random())
    const isOver = attempt >= limits.imageAttemptsMax || clock.monotonic() + pauseMs >= endMs || context.signal?.aborted === true
    if (!answer.mayPass || isOver) throw answer.error
    await sleep(clock, pauseMs, context.signal)
  }
}

type Sent =
  | { readonly kind: 'answered'; readonly body: string }
  | { readonly kind: 'failed'; readonly error: unknown; readonly mayPass: boolean }

async function sent(send: ReviewSender, body: string, timeoutMs: number): Promise<Sent> {
  try {
    const { code, body: answer } = await send(body, timeoutMs)
    if (code >= 200 && code < 300) return { kind: 'answered', body: answer }
    return { kind: 'failed', error: new Error(`Error contacting webhook: ${code}`), mayPass: code >= 500 || code === 429 }
  } catch (error) {
    return { kind: 'failed', error, mayPass: true }
  }
}

function statusIn(body: string, apiVersion: string): ReviewStatus {
  const answer: unknown = JSON.parse(body)
  if (!isJsonObject(answer) || answer['kind'] !== 'ImageReview' || answer['apiVersion'] !== apiVersion) {
    throw new Error(`the webhook has answered something else than an ImageReview of ${apiVersion}`)
  }
  const status = answer['status']
  if (!isJsonObject(status)) throw new Error('the webhook has answered without a status')
  const { allowed: isAllowed = false, reason = '', auditAnnotations = {} } = status
  if (typeof isAllowed !== 'boolean' || typeof reason !== 'string' || !isTextMap(auditAnnotations)) {
    throw new Error('the webhook has answered with a status that cannot be read')
  }
  return { isAllowed, reason, auditAnnotations }
}

function verdictOn({ isAllowed, reason, auditAnnotations }: ReviewStatus, attributes: Attributes, names: Names): Verdict {
  const details = { auditAnnotations: Object.entries(auditAnnotations).map(([key, value]) => annotation(key, value, names)) }
  if (isAllowed) return { ...allowed, ...details }
  const why =
    reason === '' ? 'one or more images rejected by webhook backend' : `image policy webhook backend denied one or more images: ${reason}`
  return { ...refuse(attributes, why), ...details }
}

function withoutAnswer(error: unknown, attributes: Attributes, { policy, names }: Asking): Verdict {
  if (!policy.defaultAllow) return refuse(attributes, error instanceof Error ? error.message : String(error))
  return { ...allowed, auditAnnotations: [annotation('failed-open', 'true', names)] }
}

function annotation(key: string, value: string, names: Names) {
  return { key: `imagepolicywebhook.${domainGroup(names, 'image-policy')}/${key}`, value, level: 'Metadata' }
}

function refuse(attributes: Attributes, why: string): Verdict {
  return denied(forbid(attributes, why))
}
