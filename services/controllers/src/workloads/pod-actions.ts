import type { EventDraft } from '@orch/client'
import { type ApiObject, toNamePrefix } from '@orch/core/meta'
import type { BuiltIn } from '@orch/core/schema'
import type { Pod } from '@orch/core/workloads'
import { type Action, aboutObject, type KindOf, type OwnedBy, type World } from '../reconciler/index.ts'
import { referenceTo } from './claims.ts'

type Template = BuiltIn<'core/v1.PodTemplateSpec'>

interface PodOwner {
  readonly kind: KindOf
  readonly owner: ApiObject
  readonly world: World
  readonly pods: OwnedBy<Pod>
}

/** The writes of an owner of Pods with generated names, with their events. */
export class PodActions {
  readonly #parts: PodOwner

  constructor(parts: PodOwner) {
    this.#parts = parts
  }

  /** Creates a Pod of the template. The server adds five random characters to the name. */
  create(template: Template | null | undefined): Action {
    return {
      kind: 'create',
      in: this.#parts.pods,
      object: this.#toPod(template),
      succeeded: (pod) => this.record({ type: 'Normal', reason: 'SuccessfulCreate', message: `Created pod: ${pod.metadata.name}` }),
      refused: (message) => this.record({ type: 'Warning', reason: 'FailedCreate', message: `Error creating: ${message}` }),
    }
  }

  remove(pod: Pod): Action {
    return {
      kind: 'delete',
      in: this.#parts.pods,
      object: pod,
      succeeded: () => this.record({ type: 'Normal', reason: 'SuccessfulDelete', message: `Deleted pod: ${pod.metadata.name}` }),
      refused: (message) => this.record({ type: 'Warning', reason: 'FailedDelete', message: `Error deleting: ${message}` }),
    }
  }

  /** Reports an event about the owner. */
  record(draft: EventDraft): void {
    const { kind, owner, world } = this.#parts
    world.record(aboutObject(kind, owner), draft)
  }

  #toPod(template: Template | null | undefined): ApiObject {
    const { kind, owner } = this.#parts
    const { name = '', namespace } = owner.metadata
    const { labels, annotations, finalizers } = template?.metadata ?? {}
    const generateName = toNamePrefix(name)
    return {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { generateName, namespace, labels, annotations, finalizers, ownerReferences: [referenceTo(kind, owner)] },
      spec: template?.spec,
    }
  }
}
