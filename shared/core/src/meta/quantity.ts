export * from '@orch/cel/quantity'
