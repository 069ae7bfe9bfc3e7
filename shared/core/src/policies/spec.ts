import type { BuiltIn } from '../schema/built-in.ts'

/** The parts of policies and bindings, and of their specs. */
export type MatchConditionSpec = BuiltIn<'admissionregistration/v1.MatchCondition'>
export type NamedRuleSpec = BuiltIn<'admissionregistration/v1.NamedRuleWithOperations'>
export type MatchResourcesSpec = BuiltIn<'admissionregistration/v1.MatchResources'>
export type ValidationSpec = Partial<BuiltIn<'admissionregistration/v1.Validation'>>
export type MutationSpec = BuiltIn<'admissionregistration/v1.Mutation'>
export type ParamRefSpec = BuiltIn<'admissionregistration/v1.ParamRef'>
export type ValidatingPolicySpec = BuiltIn<'admissionregistration/v1.ValidatingAdmissionPolicySpec'>
export type MutatingPolicySpec = BuiltIn<'admissionregistration/v1.MutatingAdmissionPolicySpec'>
/** The members that all policies share. */
export type PolicySpec = Pick<ValidatingPolicySpec, keyof ValidatingPolicySpec & keyof MutatingPolicySpec>
/** Bindings of validating policies also have actions. */
export type BindingSpec = BuiltIn<'admissionregistration/v1.ValidatingAdmissionPolicyBindingSpec'>
