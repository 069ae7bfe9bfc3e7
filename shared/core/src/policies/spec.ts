/** A condition that a request must meet. */
export interface MatchConditionSpec {
  readonly name?: string
  readonly expression?: string
}

/** Names, resources and operations. */
export interface NamedRuleSpec {
  readonly resourceNames?: readonly string[]
  readonly operations?: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly apiVersions?: readonly string[]
  readonly resources?: readonly string[]
  readonly scope?: string
}

/** A label selector in an object. */
interface SelectorSpec {
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchExpressions?: readonly { readonly key: string; readonly operator: string; readonly values?: readonly string[] }[]
}

/** The requests that a policy or a binding matches. */
export interface MatchResourcesSpec {
  readonly namespaceSelector?: SelectorSpec
  readonly objectSelector?: SelectorSpec
  readonly resourceRules?: readonly NamedRuleSpec[]
  readonly excludeResourceRules?: readonly NamedRuleSpec[]
  readonly matchPolicy?: string
}

/** A validation of a policy. */
export interface ValidationSpec {
  readonly expression?: string
  readonly message?: string
  readonly reason?: string
  readonly messageExpression?: string
}

/** The members that all policies share. */
export interface PolicySpec {
  readonly paramKind?: { readonly apiVersion?: string; readonly kind?: string }
  readonly matchConstraints?: MatchResourcesSpec
  readonly failurePolicy?: string
  readonly matchConditions?: readonly MatchConditionSpec[]
  readonly variables?: readonly { readonly name?: string; readonly expression?: string }[]
}

/** The spec of a ValidatingAdmissionPolicy. */
export interface ValidatingPolicySpec extends PolicySpec {
  readonly validations?: readonly ValidationSpec[]
  readonly auditAnnotations?: readonly { readonly key?: string; readonly valueExpression?: string }[]
}

/** The spec of a MutatingAdmissionPolicy. */
export interface MutatingPolicySpec extends PolicySpec {
  readonly mutations?: readonly MutationSpec[]
  readonly reinvocationPolicy?: string
}

/** A mutation of a policy. */
export interface MutationSpec {
  readonly patchType?: string
  readonly applyConfiguration?: { readonly expression?: string }
  readonly jsonPatch?: { readonly expression?: string }
}

/** A binding's reference to parameters. */
export interface ParamRefSpec {
  readonly name?: string
  readonly namespace?: string
  readonly selector?: SelectorSpec
  readonly parameterNotFoundAction?: string
}

/** The spec of a binding. */
export interface BindingSpec {
  readonly policyName?: string
  readonly paramRef?: ParamRefSpec
  readonly matchResources?: MatchResourcesSpec
  readonly validationActions?: readonly string[]
}
