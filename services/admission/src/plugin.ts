import type { Catalogue } from '@orch/core/catalogue'
import type {
  AccessDecision,
  AdmissionAccess,
  AdmissionRule,
  AdmissionRuleSource,
  AdmissionStep,
  Attributes,
  AuditAnnotation,
  CallContext,
  CommitRequest,
  MetricCount,
  NodesService,
  OutcomeRequest,
  StorageService,
} from '@orch/core/contracts'
import { forbidden, type ObjectMeta, type StatusError } from '@orch/core/meta'
import type { Chance, Clock, Log, OutgoingCalls, Tracer } from '@orch/platform'
import { type ConversionMetrics, conversionsAtOnceMax } from '@orch/platform/conversion'
import { type CallPlaces, noPlaces, type WebhookCredentials } from '@orch/platform/webhooks'
import type { PluginConfiguration } from './configuration.ts'
import type { Manifests } from './manifests/manifests.ts'

export type Conditions = CommitRequest['conditions']

/** The response of admission without a plugin's decision. */
export interface VerdictDetails {
  readonly warnings?: readonly string[]
  readonly auditAnnotations?: readonly AuditAnnotation[]
  /** Steps of webhooks. The plugin itself creates a step. */
  readonly steps?: readonly AdmissionStep[]
  readonly counts?: readonly MetricCount[]
}

/** The decision of one plugin. */
export type Verdict = VerdictDetails &
  (
    | {
        readonly kind: 'allowed'
        /** The object after the plugin; undefined if unchanged. Never set while validating. */
        readonly object?: unknown
        /** Conditions that must still hold at the commit. */
        readonly conditions?: Conditions
        /** Keys of reservations; the plugin receives the outcome of the write. */
        readonly reservations?: readonly string[]
      }
    | { readonly kind: 'denied'; readonly error: StatusError }
    /** The plugin needs authorization checks, and is called again with the decisions. Only before any plugin has changed the object. */
    | { readonly kind: 'asks'; readonly accesses: readonly AdmissionAccess[] }
    /** The namespace must exist first; the plugin is called again afterwards. Only before any plugin has changed the object. */
    | { readonly kind: 'needs'; readonly namespace: string }
  )

/** The verdict without an objection. */
export const allowed: Verdict = Object.freeze({ kind: 'allowed' })

/** True if two authorization checks are equal. */
export function isSameAccess(one: AdmissionAccess, other: AdmissionAccess): boolean {
  return (
    one.verb === other.verb &&
    one.group === other.group &&
    one.version === other.version &&
    one.resource === other.resource &&
    one.subresource === other.subresource &&
    one.namespace === other.namespace &&
    one.name === other.name &&
    one.path === other.path &&
    one.account === other.account &&
    one.fieldSelector === other.fieldSelector &&
    one.labelSelector === other.labelSelector
  )
}

/** A refusal. */
export function denied(error: StatusError): Verdict {
  return { kind: 'denied', error }
}

/** A refusal with the name of the object. An object with a generated name has none before it is complete, and a deletion of a collection names none. */
export function forbid({ group, resource, name, object }: Attributes, why: string, causes?: Parameters<typeof forbidden>[3]): StatusError {
  const { metadata = {} } = (object ?? {}) as { readonly metadata?: ObjectMeta }
  return forbidden({ group, resource }, name || metadata.name || metadata.generateName || 'Unknown', why, causes)
}

/** The mutating plugins are called in order. When a later one has changed the object, a plugin may request a second round with all plugins. */
export interface Reinvocation {
  readonly isSecondRound: boolean
  /** Requests a second round with all plugins; in the second round it has no effect. */
  request(): void
  /** A plugin's notes from the first round for the second, by its own keys. */
  readonly memory: Map<unknown, unknown>
}

/** The inputs of a plugin besides the attributes. One object may serve all plugins of a request, so its methods are called on it. */
export interface Inquiry {
  readonly reinvocation: Reinvocation
  /** Deadline, trace and cancellation of the gateway's call. */
  readonly context: CallContext
  /** True if steps include patches and reasons. */
  readonly explain: boolean
  /** The decision of the gateway's authorizers on a requested access; undefined if it was not requested. */
  decisionOn(access: AdmissionAccess): AccessDecision | undefined
}

/**
 * An admission plugin mutates or validates writes. It is called only for requests that match one of its admission rules, and returns its verdict
 * synchronously if possible.
 */
export interface Plugin {
  readonly admissionRules: readonly AdmissionRule[]
  /** The resources from which its admission rules are built; undefined if the rules never change. */
  readonly followed?: FollowedSources
  /** May change the object: returns a new object and never modifies its input. */
  mutate?(attributes: Attributes, inquiry: Inquiry): Verdict | Promise<Verdict>
  /** Validates without changing the object. */
  validate?(attributes: Attributes, inquiry: Inquiry): Verdict | Promise<Verdict>
  /**
   * True if `validate` only reads, reserves nothing, and decides independently of generated names and derived status. Then it may run right after the
   * last mutating plugin, on an object that is not validated yet. Default: false.
   */
  looksOnly?(attributes: Attributes): boolean
  /** Reports the end of a write for which this plugin or another holds a reservation; `reservations` contains all of the write. */
  settle?(outcome: OutcomeRequest): Promise<void>
  close?(): void
}

export interface NamedPlugin extends Plugin {
  readonly name: string
}

interface FollowedSources {
  /** The resources, with their revisions. */
  readonly sources: readonly AdmissionRuleSource[]
  /** Sets the listener that is called when the admission rules have changed or a source has read more. */
  onChange(listener: () => void): unknown
}

/** The dependencies of plugins. */
export interface PluginNeeds {
  readonly storage: StorageService
  /** The connections to simulated Pods; undefined for none. */
  readonly nodes?: NodesService | undefined
  readonly catalogue: Catalogue
  readonly clock: Clock
  readonly log: Log
  /** Returns a number in [0, 1), for jitter. */
  readonly random: () => number
  /** Generates ids and names. */
  readonly chance: Chance
  /** Undefined without tracing. */
  readonly tracer?: Tracer | undefined
  /** The faults of a test; undefined without faults. */
  readonly calls?: OutgoingCalls | undefined
  /** The configuration from the admission configuration file; undefined without an entry. */
  readonly configuration: PluginConfiguration | undefined
  readonly settings: PluginSettings
  /** Counts calls of conversion webhooks; optional. */
  readonly conversionMetrics?: ConversionMetrics | undefined
}

/** The flags of individual plugins. */
export interface PluginSettings {
  /** Seconds that Pods without a toleration of their own stay on a node that is not ready. */
  readonly notReadyTolerationSeconds: number
  /** Seconds that Pods without a toleration of their own stay on an unreachable node. */
  readonly unreachableTolerationSeconds: number
  readonly webhookPlaces: CallPlaces
  /** The server's credentials for webhooks, by name of the calling plugin. */
  readonly webhookCredentials: ReadonlyMap<string, WebhookCredentials>
  /** The objects of manifests, by name of the plugin. */
  readonly manifests: ReadonlyMap<string, Manifests>
  /** Path of the client configuration for ImagePolicyWebhook; undefined if the plugin is off or has no server. */
  readonly imageReviews?: ReviewSender
  /** Open calls of the conversion webhook of one definition. */
  readonly conversionCallsMax: number
}

/** Posts a review in JSON; rejects without an answer in time. */
export type ReviewSender = (body: string, timeoutMs: number) => Promise<{ readonly code: number; readonly body: string }>

/** The default settings. */
export const defaultPluginSettings: PluginSettings = {
  notReadyTolerationSeconds: 300,
  unreachableTolerationSeconds: 300,
  webhookPlaces: noPlaces,
  webhookCredentials: new Map(),
  manifests: new Map(),
  conversionCallsMax: conversionsAtOnceMax,
}

/** The registration of a plugin. */
export interface Registration {
  /** True if the plugin is enabled by default. */
  readonly isDefault: boolean
  /** Minor version of the first release with the plugin; undefined for every release. */
  readonly since?: number
  /** Minor version of the last release with the plugin; undefined for the newest. */
  readonly until?: number
  /** The reason why it cannot be enabled; undefined if it can. */
  readonly refusal?: string
  /** Parses its part of the admission configuration file; undefined if the plugin has no configuration. */
  readonly isConfigurable?: boolean
  /** True if it counts or caches across all requests of a process, so that several instances would be wrong. */
  readonly countsOnce?: boolean
  /** Throws a ConfigurationError for an invalid configuration. */
  create(needs: PluginNeeds): Plugin
}
