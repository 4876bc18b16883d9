# Copies the C of wasm2c, and adds one call where the engine makes its out-of-memory error: the error itself can reach
# the host as a thrown null, of which nobody could say where it came from.
{ print }
/^static u64 w2c_JS_ThrowOutOfMemory\(Z_quickjs_instance_t\* instance, u32 w2c_p0\) \{$/ {
    print "  al_vm_saw_out_of_memory();"
    n++
}
END {
    if (n != 1)
        exit 1
}
