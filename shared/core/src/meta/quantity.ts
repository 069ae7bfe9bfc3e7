export * from '@orch/cel/quantities'
