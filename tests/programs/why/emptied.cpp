#include <functional>
#include <optional>
#include <string>

struct Config {
    std::optional<int> port;
    std::function<int(int)> checked;
};

void load(Config &config, const std::string &line) {
    if (line.size() > 3) {
        config.port = 80;
    } else {
        config.port.reset(); // @reset
    }
}

int read_port(const Config &config) {
    return config.port.value();
}

int check_port(const Config &config) {
    return config.checked(80);
}

Config make_config() {
    Config config; // @made
    config.port = 1;
    return config;
}

int main(int argc, char **argv) {
    Config config = make_config();
    if (argc > 1) {
        return check_port(config);
    }
    load(config, "8080");
    load(config, "");
    return read_port(config);
}
