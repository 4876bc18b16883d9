# Reads the C of wasm2c. The 8 GiB reservation catches every access only while base (32 bits) + offset stays below it:
# each access must have the known form, and no static offset may reach 2^31.
/_(load|store)[0-9a-z_]*\(&instance->w2c_memory/ {
    line = $0
    while (match(line, /&instance->w2c_memory, \(u64\)\(w2c_[a-z][0-9]+\)/)) {
        line = substr(line, RSTART + RLENGTH)
        n++
        if (match(line, /^ \+ [0-9]+/)) {
            offset = substr(line, 4, RLENGTH - 3) + 0
            if (offset > max)
                max = offset
        } else if (line !~ /^[,)]/) {
            bad = 1
        }
    }
    if (line ~ /_(load|store)[0-9a-z_]*\(&instance->w2c_memory/)
        bad = 1
    if (bad) {
        print "check-offsets: unknown form of a memory access at line " NR ": " $0
        exit 1
    }
}
END {
    if (bad)
        exit 1
    if (n < 1000) {
        print "check-offsets: only " n + 0 " memory accesses seen; the translator writes another form"
        exit 1
    }
    if (max >= 2147483648) {
        print "check-offsets: static offset " max " reaches past the guard region"
        exit 1
    }
}
