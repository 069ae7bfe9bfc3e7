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
  OutcomeRequest,
  StorageService,
} from '@orch/core/contracts'
import type { StatusError } from '@orch/core/meta'
import type { Chance, Clock, Log, OutgoingCalls, Tracer } from '@orch/platform'
import { type ConversionMetrics, conversionsAtOnceMax } from '@orch/platform/conversion'
import { type CallPlaces, noPlaces, type WebhookCredentials } from '@orch/platform/webhooks'
import type { PluginConfiguration } from './configuration.ts'

export type Conditions = CommitRequest['conditions']

/** The response of admission besides a plugin's decision. */
export interface VerdictDetails {
  readonly warnings?: readonly string[]
  readonly auditAnnotations?: readonly AuditAnnotation[]
  /** Steps of webhooks. The plugin makes one of them for itself. */
  readonly steps?: readonly AdmissionStep[]
  readonly counts?: readonly MetricCount[]
}

/** The decision of one plugin. */
export type Verdict = VerdictDetails &
  (
    | {
        readonly kind: 'allowed'
        /** The object as the plugin wants it; absent: unchanged. Never set while validating. */
        readonly object?: unknown
        /** Conditions that must still hold at the commit. */
        readonly conditions?: Conditions
        /** Keys of reservations; the plugin receives the outcome. */
        readonly reservations?: readonly string[]
      }
    | { readonly kind: 'denied'; readonly error: StatusError }
    /** It needs the user's rights, and is called again with the decisions. Only before anything has changed the object. */
    | { readonly kind: 'asks'; readonly accesses: readonly AdmissionAccess[] }
    /** The namespace must be there first; it is called again once it is. Only before anything has changed the object. */
    | { readonly kind: 'needs'; readonly namespace: string }
  )

/** Nothing to say against it. */
export const allowed: Verdict = Object.freeze({ kind: 'allowed' })

/** True if two questions to the authorizers are equal. */
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

/**
 * The mutating plugins are asked in order. When a late one has changed the object and wants it, all are asked
 * once more: that is the second round.
 */
export interface Reinvocation {
  readonly isSecondRound: boolean
  /** All plugins shall be asked once more after this round; in the second round it does nothing. */
  request(): void
  /** A plugin's notes of the first round for the second, by keys of its own. */
  readonly memory: Map<unknown, unknown>
}

/** The inquiry of a plugin besides the attributes. One object may serve all plugins of a request, so its methods are called on it. */
export interface Inquiry {
  readonly reinvocation: Reinvocation
  /** Time left, trace and cancellation of the gateway's call. */
  readonly context: CallContext
  /** Steps shall tell patches and reasons. */
  readonly explain: boolean
  /** The decision of the gateway's authorizers on an access that the plugin has asked for; undefined if it has not. */
  decisionOn(access: AdmissionAccess): AccessDecision | undefined
}

/**
 * An admission plugin: it mutates or validates writes. It is called only for requests that match one of its admission rules, and
 * returns its verdict synchronously where possible.
 */
export interface Plugin {
  readonly name: string
  /** The requests for which it is called at present. Where they may change, `onAdmissionRulesChange` registers a listener. */
  readonly admissionRules: readonly AdmissionRule[]
  /** Resources from which its admission rules are made, and how far; absent: its admission rules never change. */
  admissionRuleSources?(): readonly AdmissionRuleSource[]
  /** Sets the listener that is called when `admissionRules` has changed or a source has read more. */
  onAdmissionRulesChange?(listener: () => void): void
  /** May change the object; it returns a new one and leaves its input alone. */
  mutate?(attributes: Attributes, inquiry: Inquiry): Verdict | Promise<Verdict>
  /** The plugin validates and does not change objects. */
  validate?(attributes: Attributes, inquiry: Inquiry): Verdict | Promise<Verdict>
  /**
   * True if `validate` only reads, reserves nothing, and decides the same for any name that the gateway generates or status that it derives
   * after mutating: then it may run right after the last mutating plugin, on an object that is not validated yet.
   * Default: never.
   */
  looksOnly?(attributes: Attributes): boolean
  /** Reports the end of a write for which this plugin, or another, holds a reservation; `reservations` are all of the write's. */
  settle?(outcome: OutcomeRequest): Promise<void>
  close(): void
}

/** The dependencies of plugins. */
export interface PluginNeeds {
  readonly storage: StorageService
  readonly catalogue: Catalogue
  readonly clock: Clock
  readonly log: Log
  /** A number in [0, 1), for pauses. */
  readonly random: () => number
  /** For ids and names. */
  readonly chance: Chance
  /** Absent: nothing is traced. */
  readonly tracer?: Tracer | undefined
  /** The faults of a test; absent: there are never any. */
  readonly calls?: OutgoingCalls | undefined
  /** From the admission configuration file; absent: nothing is said there. */
  readonly configuration: PluginConfiguration | undefined
  readonly settings: PluginSettings
  /** Counts calls of conversion webhooks; absent: nothing does. */
  readonly conversionMetrics?: ConversionMetrics | undefined
}

/** The flags of single plugins. */
export interface PluginSettings {
  /** Seconds for which Pods stay on a node that is not ready, unless their own tolerations say otherwise. */
  readonly notReadyTolerationSeconds: number
  /** The same for a node that cannot be reached. */
  readonly unreachableTolerationSeconds: number
  readonly webhookPlaces: CallPlaces
  /** The server's credentials for webhooks, by name of the calling plugin. */
  readonly webhookCredentials: ReadonlyMap<string, WebhookCredentials>
  /** Path of the client configuration for the server that ImagePolicyWebhook asks; absent: the plugin is off or has no server. */
  readonly imageReviews?: ReviewSender
  /** Calls of the conversion webhook of one definition that are under way. */
  readonly conversionCallsMax: number
}

/** Posts a review in JSON; rejects when there is no answer in time. */
export type ReviewSender = (body: string, timeoutMs: number) => Promise<{ readonly code: number; readonly body: string }>

/** Settings without any flag. */
export const defaultPluginSettings: PluginSettings = {
  notReadyTolerationSeconds: 300,
  unreachableTolerationSeconds: 300,
  webhookPlaces: noPlaces,
  webhookCredentials: new Map(),
  conversionCallsMax: conversionsAtOnceMax,
}

/** The registration of a plugin. */
export interface Registration {
  /** It is on by default. */
  readonly isDefault: boolean
  /** Minor number of the first release that knows it; absent: every release does. */
  readonly since?: number
  /** Minor number of the last release that knows it; absent: the newest one does. */
  readonly until?: number
  /** Why it cannot be enabled; absent: it can. */
  readonly refusal?: string
  /** Reads its part of the admission configuration file; absent: the plugin has no configuration. */
  readonly isConfigurable?: boolean
  /** It counts, or remembers answers, for all requests of a process: several of it would each begin anew. */
  readonly countsOnce?: boolean
  /** Throws a ConfigurationError where its configuration is wrong. */
  create(needs: PluginNeeds): Plugin
}
