import type { Attributes } from '@orch/core/contracts'
import type { PolicySpec } from '@orch/core/policies'
import { isAboutPolicies, isReview } from '../matching/about-admission.ts'
import { ConditionCounts } from '../matching/condition-counts.ts'
import { equivalentsOf } from '../matching/equivalents.ts'
import type { MatchNeeds } from '../matching/match.ts'
import type { PluginNeeds } from '../plugin.ts'
import { readLabels } from '../webhooks/plugin-parts.ts'
import { createVersionConverter, type VersionConverter } from '../webhooks/version-converter.ts'
import { BoundPolicies, type PolicyKind } from './bound-policies.ts'
import { Params } from './params.ts'

/** The common part of the plugins that evaluate policies in CEL. */
export abstract class PolicyPlugin<Spec extends PolicySpec, Compiled> {
  protected readonly needs: PluginNeeds
  protected readonly policies: BoundPolicies<Spec, Compiled>
  protected readonly match: MatchNeeds
  protected readonly converter: VersionConverter
  protected readonly params: Params
  protected readonly conditions = new ConditionCounts()

  constructor(kind: PolicyKind<Spec, Compiled>, needs: PluginNeeds) {
    const equivalents = equivalentsOf(needs.catalogue)
    this.needs = needs
    this.policies = new BoundPolicies(kind, needs, equivalents)
    this.match = { equivalents, labelsOf: (namespace) => readLabels(namespace, needs) }
    this.converter = createVersionConverter(needs)
    this.params = new Params(needs.storage, needs.catalogue)
  }

  get admissionRules() {
    return this.policies.admissionRules
  }

  get followed() {
    return this.policies
  }

  /** True for a review, and for a write of policies and bindings, about which only policies of manifests decide. */
  protected isPassedOver(attributes: Attributes): boolean {
    const { names } = this.needs.catalogue
    return isReview(attributes, names) || (isAboutPolicies(attributes, names) && !this.policies.hasManifests)
  }

  close(): void {
    this.policies.close()
    this.converter.close()
  }
}
